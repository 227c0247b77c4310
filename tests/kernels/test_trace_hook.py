"""The hook that writes traces, on small stand-ins with the names and shapes of the engines that it patches."""

import json
import random
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from recon.recipes.trace_hook import Late, hook_sglang, hook_vllm

torch = pytest.importorskip("torch")

VOCABULARY, BLOCK, WIDTH, LENGTH = 23, 3, 5, 12


def after(token: int) -> int:
    """What the target says after a token."""
    return (7 * token + 5) % VOCABULARY


def logits_of(token: int) -> Any:
    """[BLOCK, VOCABULARY]: what the drafter thinks comes after a token; often right, the nearer the more so."""
    rng, rows = random.Random(token), []
    real = token
    for depth in range(BLOCK):
        real = after(real)
        row = [rng.gauss(0, 1) for _ in range(VOCABULARY)]
        row[real] += 4 - depth
        rows.append(row)
    return torch.tensor(rows)


def target_after(tokens: list[int]) -> list[int]:
    return [after(token) for token in tokens]


def expected(first: int) -> list[tuple[list[int], list[list[float]]]]:
    """Ranks and log-probabilities at each position of a text of LENGTH tokens that begins with `first`."""
    text = [first]
    while len(text) < LENGTH:
        text.append(after(text[-1]))
    found = []
    for place in range(1, LENGTH):
        values, tokens = logits_of(text[place - 1]).log_softmax(-1).topk(WIDTH)
        real = text[place : place + BLOCK]
        ranks = [row.index(token) if token in row else -1 for row, token in zip(tokens.tolist(), real, strict=False)]
        found.append((ranks, [[round(value, 4) for value in row] for row in values.tolist()]))
    return found


class Modules(dict[str, ModuleType]):
    """Modules under the names of an engine's, made when they are asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._monkeypatch = monkeypatch

    def __missing__(self, name: str) -> ModuleType:
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            module = ".".join(parts[:count])
            self._monkeypatch.setitem(sys.modules, module, ModuleType(module))
        return sys.modules[name]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Modules:
    """Gone again after the test."""
    return Modules(monkeypatch)


def lines(path: Path) -> tuple[dict[str, Any], dict[int, list[tuple[list[int], list[list[float]]]]]]:
    head, *rest = map(json.loads, path.read_text().splitlines())
    texts: dict[int, list[tuple[list[int], list[list[float]]]]] = {}
    for line in sorted(rest, key=lambda line: (line["r"], line["p"])):
        assert len(texts.setdefault(line["r"], [])) == line["p"]
        texts[line["r"]].append((line["rank"], line["lp"]))
    return head, texts


# vLLM


class DraftModel(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Its hidden states are its logits."""

    def compute_logits(self, hidden: Any) -> Any:
        return hidden


class Drafter:
    """One call for all rows of a block, or one for each token."""

    def __init__(self, *, together: bool) -> None:
        self.model, self.together = DraftModel(), together

    def propose(self, tokens: list[int]) -> Any:
        rows = torch.stack([logits_of(token) for token in tokens])  # [batch, BLOCK, VOCABULARY]
        if self.together:
            return self.model.compute_logits(rows.flatten(0, 1)).argmax(-1).view(-1, BLOCK)
        return torch.stack([self.model.compute_logits(rows[:, depth]).argmax(-1) for depth in range(BLOCK)], 1)


def vllm_like(modules: Modules) -> tuple[type, type]:
    class RejectionSampler:
        def forward(self, drafts: Any, roots: list[int]) -> Any:
            """[batch, BLOCK + 1] tokens: those accepted, the target's next one, then -1."""
            rows = []
            for row, root in zip(drafts.tolist(), roots, strict=True):
                said = [after(root)]
                while len(said) <= BLOCK and row[len(said) - 1] == said[-1]:
                    said.append(after(said[-1]))
                rows.append(said + [-1] * (BLOCK + 1 - len(said)))
            return SimpleNamespace(sampled_token_ids=torch.tensor(rows))

    class GPUModelRunner:
        def __init__(self, *, together: bool, ranks: int = 1) -> None:
            self.drafter = Drafter(together=together)
            self.parallel_config = SimpleNamespace(tensor_parallel_size=ranks)
            self.input_batch = SimpleNamespace(req_ids=[], num_tokens_no_spec=[])
            self.discard_request_mask = SimpleNamespace(np=torch.zeros(8, dtype=torch.bool))

        def propose_draft_token_ids(self, scheduler_output: Any, sampled: Any, *rest: object) -> Any:
            return self.drafter.propose([[token for token in row if token >= 0][-1] for row in sampled.tolist()])

    modules["vllm.v1.worker.gpu_model_runner"].GPUModelRunner = GPUModelRunner  # type: ignore[attr-defined]
    modules["vllm.v1.sample.rejection_sampler"].RejectionSampler = RejectionSampler  # type: ignore[attr-defined]
    return GPUModelRunner, RejectionSampler


def served(runner: Any, sampler: Any, firsts: dict[str, int], *, read_late: bool = False) -> dict[str, list[int]]:
    """Texts of LENGTH tokens after prompts of ten, all requests in one batch; the prompt's end gives the first."""
    texts: dict[str, list[int]] = {name: [] for name in firsts}
    drafts = None
    if read_late:  # a step that reads a part of each prompt: what is sampled there is thrown away
        runner.discard_request_mask.np[:] = True
        step(runner, torch.tensor([[1]] * len(firsts)), list(firsts), 10)
        runner.discard_request_mask.np[:] = False
    while any(len(text) < LENGTH for text in texts.values()):
        length = len(next(iter(texts.values())))
        if drafts is None:
            sampled = torch.tensor([[first] for first in firsts.values()])
        else:
            sampled = sampler.forward(drafts, [text[-1] for text in texts.values()]).sampled_token_ids
        drafts = step(runner, sampled, list(firsts), 10 + length)
        for text, row in zip(texts.values(), sampled.tolist(), strict=True):
            text += [token for token in row if token >= 0]
    step(runner, torch.tensor([[1]]), ["another"], 10, over=set(firsts))
    return texts


def step(runner: Any, sampled: Any, names: list[str], known: int, over: set[str] | None = None) -> Any:
    runner.input_batch.req_ids = names
    runner.input_batch.num_tokens_no_spec = [known] * len(names)
    return runner.propose_draft_token_ids(SimpleNamespace(finished_req_ids=over or set()), sampled, "more")


@pytest.mark.parametrize("together", [True, False], ids=["a block", "token after token"])
@pytest.mark.parametrize("read_late", [False, True])
def test_vllms_drafter_is_heard_at_every_token(
    modules: Modules, tmp_path: Path, together: bool, read_late: bool
) -> None:
    runner, sampler = vllm_like(modules)
    hook_vllm(Late(str(tmp_path / "trace"), WIDTH))
    texts = served(runner(together=together), sampler(), {"a": 3, "b": 11}, read_late=read_late)
    head, found = lines(tmp_path / "trace")

    assert (BLOCK, WIDTH, "vllm", not together) == tuple(head[name] for name in ("L", "K", "engine", "conditional"))
    assert {0: expected(3), 1: expected(11)} == found
    assert all(target_after(text[:-1]) == text[1:] for text in texts.values())


def test_without_the_hook_the_stand_in_accepts_drafts(modules: Modules) -> None:
    """Else it would show nothing."""
    runner, sampler = vllm_like(modules)
    asked = runner(together=True)
    drafts = step(asked, torch.tensor([[3]]), ["a"], 10)

    assert 1 < (sampler().forward(drafts, [3]).sampled_token_ids >= 0).sum()


def test_a_step_of_vllm_without_its_drafter_breaks_a_text(modules: Modules, tmp_path: Path) -> None:
    """A token was said there that the hook did not see."""
    runner, _ = vllm_like(modules)
    late = Late(str(tmp_path / "trace"), WIDTH)
    hook_vllm(late)
    asked = runner(together=True)
    for token, known in ((3, 10), (after(3), 11), (after(after(after(3))), 13), (0, 14)):
        step(asked, torch.tensor([[token]]), ["a"], known)
    late.writer("vllm").close()

    assert {0: 1, 1: 1} == {number: len(places) for number, places in lines(tmp_path / "trace")[1].items()}


def test_several_gpus_are_refused(modules: Modules, tmp_path: Path) -> None:
    runner, _ = vllm_like(modules)
    hook_vllm(Late(str(tmp_path / "trace"), WIDTH))

    with pytest.raises(RuntimeError, match="for one GPU"):
        step(runner(together=True, ranks=2), torch.tensor([[3]]), ["a"], 10)


# SGLang


class Request:
    def __init__(self, rid: str, first: int) -> None:
        self.rid, self.text = rid, [first]

    def finished(self) -> bool:
        return len(self.text) >= LENGTH


def sglang_like(modules: Modules) -> type:
    class DFlashWorkerV2:
        """Its head is the identity, so hidden states are logits: [batch * BLOCK, VOCABULARY]."""

        def __init__(self, head: Any = None) -> None:
            shard = SimpleNamespace(num_org_elements=VOCABULARY)
            weight = torch.cat([torch.eye(VOCABULARY), torch.ones(9, VOCABULARY)])  # and padding, which wins if heard
            self.head = head or SimpleNamespace(weight=weight, shard_indices=shard, org_vocab_size=VOCABULARY)

        def _greedy_sample_from_vocab_parallel_head(self, *, hidden_states: Any, lm_head: Any) -> Any:
            return (hidden_states @ lm_head.weight[:VOCABULARY].T).argmax(-1)

        def _accept_block(self, *, candidates: Any, bs: int) -> Any:
            accepted, tokens = [], []
            for row in candidates.tolist():
                said = [after(row[0])]
                while len(said) <= BLOCK and row[len(said)] == said[-1]:
                    said.append(after(said[-1]))
                accepted.append(len(said) - 1)
                tokens.append(said + [0] * (BLOCK + 1 - len(said)))
            many, out = torch.tensor(accepted, dtype=torch.int32), torch.tensor(tokens)
            return many, many + 1, out.gather(1, many[:, None].long())[:, 0], out, many + 100

        def forward_batch_generation(self, batch: Any, on_publish: object = None) -> Any:
            if batch.forward_mode.is_extend():
                return SimpleNamespace(next_token_ids=torch.tensor([each.text[0] for each in batch.reqs]))
            roots = [each.text[-1] for each in batch.reqs]
            hidden = torch.cat([logits_of(root) for root in roots])
            drafts = self._greedy_sample_from_vocab_parallel_head(hidden_states=hidden, lm_head=self.head)
            candidates = torch.cat([torch.tensor(roots)[:, None], drafts.view(-1, BLOCK)], 1)
            _, lengths, bonus, tokens, new = self._accept_block(candidates=candidates, bs=len(roots))

            assert new is None
            assert tokens.gather(1, lengths[:, None].long() - 1)[:, 0].tolist() == bonus.tolist()
            for each, row, length in zip(batch.reqs, tokens.tolist(), lengths.tolist(), strict=True):
                each.text += row[:length]
            return SimpleNamespace(next_token_ids=tokens.reshape(-1), accept_lens=lengths)

    modules["sglang.srt.speculative.dflash_worker_v2"].DFlashWorkerV2 = DFlashWorkerV2  # type: ignore[attr-defined]
    return DFlashWorkerV2


def batch(requests: list[Request], *, reads: bool = False) -> Any:
    return SimpleNamespace(
        reqs=requests, forward_mode=SimpleNamespace(is_extend=lambda: reads), is_extend_in_batch=False
    )


def test_sglangs_drafter_is_heard_at_every_token(modules: Modules, tmp_path: Path) -> None:
    worker = sglang_like(modules)
    hook_sglang(Late(str(tmp_path / "trace"), WIDTH))
    asked, requests = worker(), [Request("a", 3), Request("b", 11)]
    asked.forward_batch_generation(batch(requests, reads=True))
    while not requests[0].finished():
        asked.forward_batch_generation(batch(requests))
    asked.forward_batch_generation(batch([Request("c", 1)], reads=True))  # and the others are over
    head, found = lines(tmp_path / "trace")

    assert (BLOCK, WIDTH, "sglang", False) == tuple(head[name] for name in ("L", "K", "engine", "conditional"))
    assert {0: expected(3), 1: expected(11)} == found
    assert all(target_after(each.text[:-1]) == each.text[1:] for each in requests)


def test_a_request_that_sglang_reads_again_goes_on_as_another_text(modules: Modules, tmp_path: Path) -> None:
    """Reading it gave a token that was never drafted."""
    worker = sglang_like(modules)
    late = Late(str(tmp_path / "trace"), WIDTH)
    hook_sglang(late)
    asked, request = worker(), Request("a", 3)
    for reads in (True, False, False, True, False):
        asked.forward_batch_generation(batch([request], reads=reads))
    late.writer("sglang").close()

    assert {0: 2, 1: 1} == {number: len(places) for number, places in lines(tmp_path / "trace")[1].items()}


def test_a_part_of_a_vocabulary_is_refused(modules: Modules, tmp_path: Path) -> None:
    worker = sglang_like(modules)
    hook_sglang(Late(str(tmp_path / "trace"), WIDTH))
    shard = SimpleNamespace(num_org_elements=VOCABULARY // 2)
    half = SimpleNamespace(weight=torch.eye(VOCABULARY), shard_indices=shard, org_vocab_size=VOCABULARY)

    with pytest.raises(RuntimeError, match="for one GPU"):
        worker(half).forward_batch_generation(batch([Request("a", 3)]))
