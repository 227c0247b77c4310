"""The whole way of an engine's acceptance: scanned, cut or imported, called, set against its verdict, and compared."""

import dataclasses
import sys
from pathlib import Path

import pytest

from recon import pipeline, probing
from recon.ports import Silent
from recon.probes.plan import plan_interpret
from recon.probing import ProbeRequest
from recon.records.run import Run
from recon.report.behaviours import seen
from recon.targets import Settings
from tests.kernels.test_journey import host, probe
from tests.kernels.test_journey import runtime as runtime  # noqa: PLC0414 - a fixture
from tests.ssh.client import Client
from tests.ssh.server import Yard

REQUEST = ProbeRequest(
    "interpret", "quick", "", allow_busy=False, archs=(), python=sys.executable, engine_baselines=True
)
NOTHING = plan_interpret(probes=())
RULE = "chain stochastic with draft probabilities"
ACCEPT = """
import torch

WAYS = {"strict": 1.0}
SCALE = WAYS.get("strict")


def accept(tokens, rows, q, scale=SCALE):
    batch, steps, _ = q.shape
    p = @P@
    u = torch.rand(batch, steps) * scale
    x = tokens[:, 1:].unsqueeze(-1)
    px = p[:, :-1].gather(-1, x).squeeze(-1)
    qx = q.gather(-1, x).squeeze(-1)
    good = (u * qx < px).int().cumprod(1).sum(1)
    at = torch.arange(batch)
    rest = p[at, good].clone()
    left = good < steps
    rest[left] = torch.clamp(rest[left] - q[at[left], good[left]], min=0)
    return good, torch.multinomial(rest, 1).squeeze(1)
"""
SAMPLED = "torch.softmax(rows, -1)"
SHARP = "torch.nn.functional.one_hot(rows.argmax(-1), rows.shape[-1]).float()"
"""A temperature that got lost: compared and recovered as before, and no chance is left."""


def engine(site: Path, p: str) -> Path:
    """An engine that accepts chains, as pip would lay it; `p` is what it takes for the target's probabilities."""
    package, info = site / "vllm", site / "vllm-9.9.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 9.9\n")
    (package / "__init__.py").write_text("")
    (package / "accept.py").write_text(ACCEPT.replace("@P@", p))
    return site


@pytest.mark.parametrize(
    ("p", "rule", "agreement"), [(SAMPLED, RULE, "agrees"), (SHARP, "chain greedy", "contradicts")]
)
def test_a_rule_that_differs_from_what_its_shape_says_contradicts_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, p: str, rule: str, agreement: str
) -> None:
    """Both have the shape of rejection sampling; of one the answers are greedy."""
    monkeypatch.setattr(probing, "plan_interpret", lambda: NOTHING)
    settings = Settings(tmp_path / "cache", tmp_path / "state", compiled=False, workers=0)
    folder = str(engine(tmp_path / "site", p))
    run = pipeline.probe(dataclasses.replace(REQUEST, engines=(folder,)), settings, Silent())
    (one,) = run.behaviours
    (claim,) = [each for each in one.claims if each.capability == "accept.linear.stochastic"]

    assert ("cut", ["vllm/accept.py:accept"]) == (one.how, [each for each in one.taken if each.endswith("accept")])
    assert [rule] == [each.rule for each in one.rules]
    assert ("present", agreement) == (claim.standing, claim.agreement)
    assert (agreement == "contradicts") == (seen(run.behaviours)[0].contradicts)
    assert {("engine.vllm/accept.py:accept", rule)} == compared(run)


@pytest.mark.system("sshd", "ssh", "ssh-keygen")
def test_an_engine_of_a_host_is_scanned_over_ssh_and_called_there(yard: Yard, client: Client, runtime: Path) -> None:
    """Imported where that is possible: the Python that runs the payload finds the package."""
    account = runtime.parent
    site = engine(account / "venv/lib/python3.11/site-packages", SAMPLED)
    (account / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    host(yard, runtime, VIRTUAL_ENV=str(account / "venv"), PYTHONPATH=str(site))
    run = probe(client, NOTHING, engine_baselines=True)
    (one,) = run.behaviours

    assert ("imported", "interpret", [RULE]) == (one.how, one.mode, [each.rule for each in one.rules])
    assert ["agrees"] == [each.agreement for each in one.claims if each.capability == "accept.linear.stochastic"]
    assert {("engine.vllm/accept.py:accept", RULE)} == compared(run)
    assert (True, "gpu1", []) == (run.complete, run.hosts[0].name, list(runtime.iterdir()))


def compared(run: Run) -> set[tuple[str, object]]:
    """Functions that agreed with the reference of our kernel, each with its rule."""
    return {
        (each.kernel, each.case["rule"])
        for each in run.measurements
        if each.agreement and not each.agreement.mismatches
    }
