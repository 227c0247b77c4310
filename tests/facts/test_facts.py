"""Recorded replies: each fact reads what machines have answered. A new recording is a new file, nothing else."""

import dataclasses
import json
from pathlib import Path

import pytest

from recon.facts.fact import Fact, FactUnreadable
from recon.facts.gpus import GPUS
from recon.facts.load import LOAD
from recon.facts.machine import MACHINE
from recon.facts.pythons import pythons
from recon.facts.sites import packages, sites
from recon.facts.toolchain import TOOLCHAIN, kernel_envs
from recon.ports import Reply

HERE = Path(__file__).parent
FACTS: dict[str, Fact[object]] = {
    fact.name: fact for fact in (MACHINE, GPUS, LOAD, TOOLCHAIN, pythons(), sites(()), packages(()), kernel_envs(()))
}
RECORDINGS = sorted(HERE.glob("*/*.json"))


def plain(value: object) -> object:
    """A value as JSON holds it."""
    return json.loads(json.dumps(value, default=dataclasses.asdict))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_reply_is_read_as_expected(path: Path) -> None:
    """A reply gives its value, or says why it cannot."""
    recorded = json.loads(path.read_text())
    fact = FACTS[path.parent.name]
    reply = Reply(recorded["stdout"], recorded["stderr"], recorded["status"])
    if "unreadable" in recorded:
        with pytest.raises(FactUnreadable) as caught:
            fact.parse(reply)

        assert recorded["unreadable"] == caught.value.message
    else:
        assert recorded["expected"] == plain(fact.parse(reply))


def test_every_fact_has_recordings_of_both_kinds() -> None:
    """A parser is not trusted that was never shown a bad reply."""
    good = {path.parent.name for path in RECORDINGS if "expected" in json.loads(path.read_text())}
    bad = {path.parent.name for path in RECORDINGS if "unreadable" in json.loads(path.read_text())}

    assert (set(FACTS), set(FACTS)) == (good, bad)
