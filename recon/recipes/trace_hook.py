"""Writes an acceptance trace while vLLM or SGLang answers requests. Stands alone: the standard library, and the engine.

`recon trace hook FOLDER` puts this file there. Start the engine as always, on one GPU, with the folder on its path:

    RECON_TRACE=trace.jsonl PYTHONPATH=FOLDER VLLM_USE_V2_MODEL_RUNNER=0 vllm serve MODEL --no-async-scheduling ...
    RECON_TRACE=trace.jsonl PYTHONPATH=FOLDER python -m sglang.launch_server ... --disable-cuda-graph

Both load it as a plugin, by the entry points that lie beside it; without RECON_TRACE nothing happens. With it no draft
is accepted any more, so that every token of a text begins a round and the drafter is heard at each: texts stay the
target's own, at the speed of plain decoding or less. RECON_TRACE_K is how many tokens of a position are kept (32),
RECON_TRACE_T the temperature of the requests (0), which is written down and not set.

What is patched, and where that was read: of vLLM 0.20.1 and 0.33.0, runner V1, `GPUModelRunner.propose_draft_token_ids`
and `RejectionSampler.forward`; of SGLang 0.5.23 three methods of `DFlashWorkerV2`.
"""

import atexit
import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

Rows = list[list[float]]
Tokens = list[list[int]]

NONE = -1
"""vLLM's word for a token that was not accepted."""
NEVER = -99.0
"""Log-probability of a token that the drafter cannot say; JSON has no infinity."""
_PLUGGED: list[str] = []
"""The file, once there is one: a plugin may be loaded again."""


class TraceWriter:
    """Lines of a trace, from what the drafter says before each token and what the target says then.

    A position is written when as many tokens after it are known as the drafter has drafted. Where a token came without
    a draft, its text goes on under a new number, because a trace has no gaps.
    """

    def __init__(self, file: TextIO, *, width: int = 32, temperature: float = 0.0, engine: str = "") -> None:
        self._file, self._width = file, width
        self._header = {"v": 1, "model": "", "drafter": "", "T": temperature, "stride": 1, "engine": engine}
        self._texts: dict[str, _Text] = {}
        self._numbers = 0
        self._length = 0

    def drafted(self, request: str, tokens: Tokens, logprobs: Rows, *, conditional: bool = False) -> None:
        """Take what the drafter says of the next tokens of a request.

        Args:
            request: Its name, any that tells requests apart.
            tokens: [L][K] by falling probability, the row of the next token first.
            logprobs: [L][K] of them, natural logarithms.
            conditional: Whether each row was made for the best tokens of the rows before it.
        """
        if not self._length:
            self._length = len(tokens)
            header = {**self._header, "L": self._length, "K": self._width, "conditional": conditional}
            self._file.write(json.dumps(header) + "\n")
        if request not in self._texts:
            self._texts[request] = _Text(self._numbers)
            self._numbers += 1
        text = self._texts[request]
        text.drafts[len(text.tokens)] = (tokens, logprobs)

    def said(self, request: str, token: int) -> None:
        """Take the next token of a request, the target's own."""
        text = self._texts.get(request)
        if text is None:
            return  # nothing was drafted yet
        if len(text.tokens) not in text.drafts:
            self.ended(request)
            return
        text.tokens.append(token)
        place = len(text.tokens) - self._length
        if place >= 0:
            self._write(text, place)

    def ended(self, request: str) -> None:
        """Write what is left of a request: its last positions have as many ranks as tokens followed."""
        text = self._texts.pop(request, None)
        if text is None:
            return
        for place in sorted(text.drafts):
            if place < len(text.tokens):
                self._write(text, place)
        self._file.flush()

    def close(self) -> None:
        """End all requests."""
        for request in list(self._texts):
            self.ended(request)

    def _write(self, text: "_Text", place: int) -> None:
        rows, logprobs = text.drafts.pop(place)
        real = text.tokens[place : place + self._length]
        line = {
            "r": text.number,
            "p": place,
            "rank": [row.index(token) if token in row else -1 for row, token in zip(rows, real, strict=False)],
            "lp": [[round(max(value, NEVER), 4) for value in row] for row in logprobs],
        }
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


class _Text:
    """One request while it is written: its tokens since the first draft, and the drafts that wait for theirs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.tokens: list[int] = []
        self.drafts: dict[int, tuple[Tokens, Rows]] = {}


class Late:
    """A writer whose file is opened by the process that has something to write: engines have several."""

    def __init__(self, path: str, width: int = 32, temperature: float = 0.0) -> None:
        self.width = width
        self._path, self._temperature = path, temperature
        self._writer: TraceWriter | None = None

    def writer(self, engine: str) -> TraceWriter:
        """The one writer of this process."""
        if self._writer is None:
            # Line by line, so that what ends an engine does not cut one; open until then.
            file = Path(self._path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115
            self._writer = TraceWriter(file, width=self.width, temperature=self._temperature, engine=engine)
            atexit.register(self._writer.close)
        return self._writer


def plug_in() -> None:
    """What both engines call in each of their processes."""
    path = os.environ.get("RECON_TRACE")
    if not path or _PLUGGED:
        return
    _PLUGGED.append(path)
    late = Late(path, int(os.environ.get("RECON_TRACE_K", "32")), float(os.environ.get("RECON_TRACE_T", "0")))
    hook_vllm(late)
    hook_sglang(late)


class _Watch:
    """Patches a module once somebody imports it: who loads a plugin need not load a model runner."""

    def __init__(self, name: str, patch: Callable[[Any], None]) -> None:
        self._name, self._patch = name, patch

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:  # noqa: ARG002 - as it is called
        """Of the one module, that of the finders behind this one, with a loader that patches."""
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_patch(module: Any) -> None:
            load(module)
            self._patch(module)

        spec.loader.exec_module = load_and_patch  # type: ignore[method-assign]
        return spec


def _once_there(name: str, patch: Callable[[Any], None]) -> None:
    if name in sys.modules:
        patch(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Watch(name, patch))


def _parts(module: Any, owner: str, *names: str) -> list[Any]:
    """A class of a module, and methods of it.

    Raises:
        RuntimeError: One is not there.
    """
    found = getattr(module, owner, None)
    missing = [name for name in names if not hasattr(found, name)]
    if missing:
        raise RuntimeError(
            f"recon's trace hook does not know this engine: no {owner}.{missing[0]} in {module.__name__}"
        )
    return [found, *(getattr(found, name) for name in names)]


def best(logits: Any, width: int) -> tuple[Tokens, Rows]:
    """The best tokens of each row of logits [N, V], and their log-probabilities."""
    values, tokens = logits.float().log_softmax(dim=-1).topk(width, dim=-1)
    return tokens.tolist(), values.tolist()


# vLLM


def hook_vllm(late: Late) -> None:
    """Patch the runner of version 1."""
    _once_there("vllm.v1.sample.rejection_sampler", _hold_vllm_back)
    _once_there("vllm.v1.worker.gpu_model_runner", lambda module: _listen_to_vllm(module, late))


def _hold_vllm_back(module: Any) -> None:
    sampler, forward = _parts(module, "RejectionSampler", "forward")

    def forward_and_accept_nothing(self: Any, *args: Any, **kwargs: Any) -> Any:
        output = forward(self, *args, **kwargs)
        # [batch, drafts + 1]; the first is the target's own, whatever was drafted
        output.sampled_token_ids[:, 1:] = NONE
        return output

    sampler.forward = forward_and_accept_nothing


def _listen_to_vllm(module: Any, late: Late) -> None:
    runner, propose = _parts(module, "GPUModelRunner", "propose_draft_token_ids")
    known: dict[str, int] = {}

    def propose_and_write(self: Any, scheduler_output: Any, sampled: Any, *args: Any, **kwargs: Any) -> Any:
        if self.parallel_config.tensor_parallel_size > 1:
            raise RuntimeError("recon's trace hook is for one GPU")
        names, writer = list(self.input_batch.req_ids), late.writer("vllm")
        for name in scheduler_output.finished_req_ids:
            writer.ended(name)
            known.pop(name, None)
        with _Ear(self.drafter.model, late.width) as ear:
            drafts = propose(self, scheduler_output, sampled, *args, **kwargs)
        said = sampled if isinstance(sampled, list) else sampled.tolist()
        waits = self.discard_request_mask.np[: len(names)].tolist()  # prompts that are not read to their end
        for place, name in enumerate(names):
            tokens = [token for token in said[place] if token != NONE]
            if waits[place] or not tokens:
                continue
            if len(tokens) > 1:
                raise RuntimeError("recon's trace hook could not keep vLLM from accepting drafts")
            before = int(self.input_batch.num_tokens_no_spec[place])
            if known.get(name, before - 1) != before - 1:
                writer.ended(name)  # a token was said while the drafter was not asked
            known[name] = before
            writer.said(name, tokens[0])
            rows, logprobs, conditional = ear.rows(place, len(names))
            writer.drafted(name, rows, logprobs, conditional=conditional)
        return drafts

    runner.propose_draft_token_ids = propose_and_write


class _Ear:
    """Listens to a drafter's logits while it drafts: one call for a whole block, or one for each token."""

    def __init__(self, model: Any, width: int) -> None:
        self._model, self._width = model, width
        self._compute = model.compute_logits
        self._heard: list[tuple[Tokens, Rows]] = []

    def __enter__(self) -> "_Ear":  # noqa: PYI034 - Python 3.10 has no Self
        self._model.compute_logits = self._listen
        return self

    def __exit__(self, *_: object) -> None:
        del self._model.compute_logits

    def _listen(self, *args: Any, **kwargs: Any) -> Any:
        logits = self._compute(*args, **kwargs)
        self._heard.append(best(logits, self._width))
        return logits

    def rows(self, place: int, batch: int) -> tuple[Tokens, Rows, bool]:
        """Tokens and log-probabilities [L][K] of one request, and whether its rows followed one another."""
        if len(self._heard) > 1:
            return [tokens[place] for tokens, _ in self._heard], [rows[place] for _, rows in self._heard], True
        return (*_part(self._heard[0], place, batch), False)


def _part(heard: tuple[Tokens, Rows], place: int, batch: int) -> tuple[Tokens, Rows]:
    """The rows of one request, of [batch * L] with those of a request together."""
    tokens, rows = heard
    length = len(tokens) // batch
    part = slice(place * length, (place + 1) * length)
    return tokens[part], rows[part]


# SGLang


def hook_sglang(late: Late) -> None:
    """Patch the worker of DFlash."""
    _once_there("sglang.srt.speculative.dflash_worker_v2", lambda module: _listen_to_sglang(module, late))


def _listen_to_sglang(module: Any, late: Late) -> None:
    methods = ("forward_batch_generation", "_accept_block", "_greedy_sample_from_vocab_parallel_head")
    worker, forward, accept, sample = _parts(module, "DFlashWorkerV2", *methods)
    heard: list[tuple[Tokens, Rows]] = []
    going: dict[str, Any] = {}

    def sample_and_listen(self: Any, *, hidden_states: Any, lm_head: Any, **kwargs: Any) -> Any:
        shard = getattr(lm_head, "shard_indices", None)
        weight = lm_head.weight if shard is None else lm_head.weight[: int(shard.num_org_elements)]
        if len(weight) < int(getattr(lm_head, "org_vocab_size", len(weight))):
            raise RuntimeError("recon's trace hook is for one GPU")
        heard.append(best(hidden_states.to(weight.dtype) @ weight.T, late.width))  # [batch * L, V]
        return sample(self, hidden_states=hidden_states, lm_head=lm_head, **kwargs)

    def accept_nothing(self: Any, **kwargs: Any) -> Any:
        accepted, lengths, bonus, tokens, _ = accept(self, **kwargs)
        tokens = tokens.clone()  # [batch, L + 1]; the first is the target's own whatever was drafted
        tokens[:, 1:] = 0
        first = tokens[:, 0].to(bonus.dtype).clone()
        return accepted.clone().fill_(0), lengths.clone().fill_(1), first, tokens, None  # None: lengths are added again

    def forward_and_write(self: Any, batch: Any, *args: Any, **kwargs: Any) -> Any:
        heard.clear()
        requests = list(batch.reqs)
        reads = batch.forward_mode.is_extend() or batch.is_extend_in_batch  # prompts, those of resumed requests too
        result = forward(self, batch, *args, **kwargs)
        writer, there = late.writer("sglang"), {request.rid for request in requests}
        for name, request in list(going.items()):
            if (reads and name in there) or (name not in there and request.finished()):
                writer.ended(name)
                del going[name]
        if reads or not requests or not heard:
            return result
        said = result.next_token_ids.view(len(requests), -1)[:, 0].tolist()
        for place, request in enumerate(requests):
            going[request.rid] = request
            writer.drafted(request.rid, *_part(heard[0], place, len(requests)))
            writer.said(request.rid, said[place])
        return result

    for name, method in zip(methods, (forward_and_write, accept_nothing, sample_and_listen), strict=True):
        setattr(worker, name, method)
