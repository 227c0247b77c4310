"""A round of a model, put together from the measured times of its parts.

The target's pass multiplies all tokens of the batch with every weight, attends, and in recurrent layers takes the state
along. Then drafts are accepted, and a tree's accepted path is moved together; before all that a tree is built. What
nobody measures here (norms, rotations, the router of experts, what GPUs say to one another) is nearly the same for a
chain and a tree of as many tokens; with the draft and the host it is what both have in common, and is given or swept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from recon.estimates.memory import layers_of
from recon.estimates.times import Missing, Times, added
from recon.records.cost import Part, Quantity, Round
from recon.records.model import Model, Weight


class Kernels(Enum):
    """With whose kernels a round is counted."""

    BUNDLED = "bundled"
    """As good as those that come along; a chain takes the better of these and the engine's."""
    ENGINE = "engine"
    """Those of engines: measured from the installed one, or what engines do."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is run."""

    model: Model
    tp: int
    weights: str
    """`bf16` or `fp8`; the head stays bf16."""
    kv: str
    """What keys and values are held in: `bf16` or `fp8`."""
    state: str
    """What recurrent states are held in: `fp32` or `bf16`."""
    sampled: bool
    """Whether drafts are accepted by chance, at a temperature above 0."""
    batch: int
    context: int
    """Tokens of each sequence before the drafts."""
    engine: str = ""
    """Package whose kernels are the engine's, e.g. `vllm`; empty for any's."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Names of kernels, or beginnings of them that end in `.`, that do one thing; the engines' own and ours."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]


ATTENTION = {
    "chain": Ways(("tree_attention.chain",), ("tree_attention.fa3_chain",)),
    "tree": Ways(("tree_attention.tree",), ("tree_attention.fa3_cascade",)),
}
GREEDY = {
    "chain": Ways(("linear_greedy.fused",), ("linear_greedy.engine.",)),
    "tree": Ways(("tree_greedy.fused", "tree_greedy.lazy", "tree_greedy.auto"), ("tree_greedy.engine.",)),
}
SAMPLED = {
    "chain": Ways(("linear_stochastic.fused",), ("linear_stochastic.engine.",)),
    "tree": Ways(
        ("tree_target_only.fused", "tree_target_only.lazy", "tree_target_only.auto"), ("tree_target_only.engine.",)
    ),
}
COMPACTION = Ways(("kv_compact.rows",), ("kv_compact.batch_tile", "kv_compact.index"))
BUILDING = Ways(("tree_best_first.expand",), ("tree_best_first.host_heap",))


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Kernels of layers with a recurrent state, and the axes that are their heads."""

    matrix: tuple[str, ...]
    step: tuple[str, ...]
    walk: str
    """Computes the state behind the accepted path again."""
    copy: str
    """Takes it over where a state was kept for each node."""
    heads: tuple[str, ...]


DELTA = Recurrence(
    matrix=("delta_matrix.quick", "delta_matrix.exact"),
    step=("delta_step.step",),
    walk="delta_commit.walk",
    copy="state_scatter.scatter",
    heads=("linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim"),
)
MAMBA = Recurrence(
    matrix=("ssd_matrix.matrix",),
    step=("ssd_step.step",),
    walk="ssd_commit.walk",
    copy="ssd_commit.walk",  # there is no copy of these
    heads=("mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state"),
)
WINDOW = "conv_commit.copy"
ENGINES = ("vllm", "sglang", "lmdeploy", "tensorrt_llm")
NOT_TIMED = "; none of the engine was timed"
_TIMED_ACCEPTED, _TIMED_ROWS = 3, 4
"""Accepted drafts of timed acceptances, and rows of timed compactions."""


def round_of(times: Times, setting: Setting, drafts: int, shape: str, kernels: Kernels) -> Round | Missing:
    """A round with so many drafts, or what is missing.

    Args:
        times: What was measured.
        setting: What is run.
        drafts: Of the chain, or of the tree; the root not counted.
        shape: `chain` or `tree`.
        kernels: Whose.
    """
    lacking = incomplete(setting.model)
    if lacking:
        return lacking
    made = _Round(times, setting, drafts + 1, shape, kernels)
    parts = []
    for name, us in made.parts(drafts):
        if isinstance(us, Missing):
            return Missing(f"{name}: {us.why}")
        parts.append(Part(name, us))
    whole = added(((1.0, part.us) for part in parts), f"the sum of {len(parts)} parts")
    return Round(shape, drafts, whole, tuple(parts))


def incomplete(model: Model) -> Missing | None:
    """Why not all weights of a model are known; None where they are."""
    if not model.hidden or not model.intermediate:
        return Missing(f"the configuration of {model.name} does not tell the sizes of its weights")
    return None


@dataclass(frozen=True, slots=True)
class _Round:
    times: Times
    setting: Setting
    tokens: int
    """Of one sequence: drafts and the root."""
    shape: str
    kernels: Kernels

    def parts(self, drafts: int) -> Iterator[tuple[str, Quantity | Missing]]:
        model, batch = self.setting.model, self.setting.batch
        yield "weights", self._weights()
        yield "attention", self._attention()
        if model.linear_layers:
            yield "recurrent state", self._state()
        yield "acceptance", self._acceptance()
        if self.shape == "tree":
            axes = model.axes(self.setting.tp)
            moved: dict[str, object] = {
                "layers": model.attention_layers,
                "kv_heads": axes["kv_heads"],
                "head_dim": model.head_dim,
            }
            moved |= {"accepted": _TIMED_ROWS, "cache": None}
            yield "compaction", self._of(COMPACTION, moved, {"batch": batch})
            yield "building", self._of(BUILDING, {"values": None}, {"batch": batch, "nodes": drafts})

    def _of(
        self, ways: Ways, fixed: Mapping[str, object], at: Mapping[str, int], least_us: float = 0
    ) -> Quantity | Missing:
        """The time with the kernels that are asked for; ours, and said so, where no engine's was timed."""
        theirs = self._time(ways.theirs, fixed, at, least_us)
        ours = self._time(ways.ours, fixed, at, least_us)
        if self.kernels is Kernels.ENGINE:
            if isinstance(theirs, Missing) and isinstance(ours, Quantity):
                return replace(ours, source=ours.source + NOT_TIMED)
            return theirs
        if self.shape == "chain" and isinstance(theirs, Quantity):
            return min((theirs, ours), key=lambda each: each.value) if isinstance(ours, Quantity) else theirs
        return ours

    def _time(
        self, names: Sequence[str], fixed: Mapping[str, object], at: Mapping[str, int], least_us: float
    ) -> Quantity | Missing:
        found = [each for name in names for each in (self._of_engine(name) if name.endswith(".") else [name])]
        if not found:
            return Missing("none of the engine was timed")
        return self.times.fastest(found, fixed, at, max(least_us, self.times.launch_us))

    def _of_engine(self, beginning: str) -> list[str]:
        """Kernels that were timed out of the engine's sources, and not out of another engine's."""
        others = tuple(f"{beginning}{engine}/" for engine in ENGINES if self.setting.engine not in {"", engine})
        return [name for name in self.times.kernels(beginning) if not name.startswith(others)]

    def _weights(self) -> Quantity | Missing:
        counts = layers_of(self.setting.model)
        found: list[tuple[float, Quantity]] = []
        for each in self.setting.model.weights(self.setting.tp):
            us = self._weight(each)
            if isinstance(us, Missing):
                return Missing(f"{each.name}, {us.why}")
            found.append((float(counts[each.name]), us))
        return added(found, "each weight as often as the model has it")

    def _weight(self, weight: Weight) -> Quantity | Missing:
        tokens = self.setting.batch * self.tokens
        shape = {"n": weight.outputs, "k": weight.inputs}
        if weight.experts:
            part = "up" if weight.name == "gate_up" else "down"
            shape |= {"experts": weight.experts, "active": self.setting.model.active_experts}
            return self.times.time(
                "grouped_gemm.tiles", {**shape, "part": part, "routing": "uniform"}, {"tokens": tokens}
            )
        kernel = "gemm_fp8.torch" if self.setting.weights == "fp8" and weight.name != "lm_head" else "gemm.torch"
        return self.times.time(kernel, {**shape, "layout": "linear"}, {"m": tokens})

    def _attention(self) -> Quantity | Missing:
        """Of layers with a window as over a context of its length: no kernel with windows is timed."""
        found: list[tuple[float, Quantity]] = []
        for layers, seen in self.setting.model.spans(self.setting.context):
            us = self._attention_over(seen)
            if isinstance(us, Missing):
                return us
            found.append((float(layers), us))
        return added(found, "; ".join(dict.fromkeys(us.source for _, us in found)))

    def _attention_over(self, context: int) -> Quantity | Missing:
        """Of one layer."""
        setting, axes = self.setting, self.setting.model.axes(self.setting.tp)
        fixed = {name: axes[name] for name in ("heads", "kv_heads", "head_dim")} | {"kv": setting.kv}
        held = 2 * int(axes["kv_heads"]) * int(axes["head_dim"]) * (1 if setting.kv == "fp8" else 2)
        at = {"batch": setting.batch, "context": context, "nodes": self.tokens}
        return self._of(ATTENTION[self.shape], fixed, at, self.times.read_us(setting.batch * context * held))

    def _acceptance(self) -> Quantity | Missing:
        setting = self.setting
        ways = (SAMPLED if setting.sampled else GREEDY)[self.shape]
        fixed = {"vocab": setting.model.vocab, "accepted": _TIMED_ACCEPTED}
        logits = setting.batch * self.tokens * setting.model.vocab * 2
        least = self.times.read_us(logits) if self.shape == "chain" else 0.0  # a walk reads some rows alone
        return self._of(ways, fixed, {"batch": setting.batch, "nodes": self.tokens}, least)

    def _state(self) -> Quantity | Missing:
        """All tokens at once and the path walked again, or step by step with a state for each; convolutions besides.

        Tree and chain are the same code here: what is timed with trees is taken for both.
        """
        together, walked = self._matrix(), self._steps()
        if self.kernels is Kernels.ENGINE:
            return walked
        if self.shape == "chain" and isinstance(walked, Quantity):
            return min((walked, together), key=lambda each: each.value) if isinstance(together, Quantity) else walked
        return together

    def _matrix(self) -> Quantity | Missing:
        kernels = self._recurrence
        wanted = (self._delta(kernels.matrix), self._convolution(), self._commit(kernels.walk))
        return self._layers((*wanted, self._commit(WINDOW)), "all nodes at once, the path walked again")

    def _steps(self) -> Quantity | Missing:
        kernels = self._recurrence
        parts = [self._delta(kernels.step), self._convolution()]
        if self.shape == "tree":
            parts += [self._commit(kernels.copy), self._commit(WINDOW)]
        return self._layers(parts, "node by node, a state kept for each")

    @property
    def _recurrence(self) -> Recurrence:
        return MAMBA if self.setting.model.mamba_heads else DELTA

    def _layers(self, parts: Sequence[Quantity | Missing], source: str) -> Quantity | Missing:
        layers = float(self.setting.model.linear_layers)
        lacking = next((each for each in parts if isinstance(each, Missing)), None)
        return lacking or added([(layers, each) for each in parts if isinstance(each, Quantity)], source)

    def _delta(self, kernels: Sequence[str]) -> Quantity | Missing:
        fixed = {**self._heads(), "state": self.setting.state, "shape": "random", "keep": None}
        at = {"batch": self.setting.batch, "nodes": self.tokens}
        return self.times.fastest(kernels, fixed, at, self.times.launch_us)

    def _convolution(self) -> Quantity | Missing:
        at = {"batch": self.setting.batch, "nodes": self.tokens}
        return self.times.time("conv_tree.climb", self._channels(), at, self.times.launch_us)

    def _commit(self, kernel: str) -> Quantity | Missing:
        shape = self._channels() if kernel == WINDOW else {**self._heads(), "state": self.setting.state}
        return self.times.time(kernel, shape, {"batch": self.setting.batch})

    def _heads(self) -> dict[str, object]:
        axes = self.setting.model.axes(self.setting.tp)
        return {name: axes[name] for name in self._recurrence.heads}

    def _channels(self) -> dict[str, object]:
        axes = self.setting.model.axes(self.setting.tp)
        return {name: axes[name] for name in ("channels", "width")}
