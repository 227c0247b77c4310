"""Releases beside the two that the shapes grew on: standings that were verified by reading their sources."""

import pytest

from recon.records.verdict import Standing
from tests.releases.conftest import Release
from tests.releases.facts import verdict

pytestmark = [pytest.mark.release, pytest.mark.slow]

CAPABILITIES = (
    "accept.block",
    "accept.linear.greedy",
    "accept.linear.stochastic",
    "accept.synthetic",
    "accept.tree.greedy",
    "accept.tree.stochastic",
    "accept.typical",
    "attn.mask_hook",
    "attn.tree.draft",
    "attn.tree.verify",
    "tree.build.dynamic",
    "tree.build.static",
)
WORDS = {"p": Standing.PRESENT, "/": Standing.PARTIAL, "-": Standing.ABSENT, "?": Standing.UNKNOWN}
# One letter a capability, in the order above; a space leaves one out.
KNOWN = {
    "vllm==0.6.6.post1": "-/p---p-----",
    "vllm==0.11.0": "-pp----pp/-p",
    "vllm==0.33.0": "pppp--/p----",
    "sglang==0.3.6": "------------",
    "sglang==0.4.6.post5": "-?-p???pp?p-",
}


@pytest.mark.parametrize(
    ("name", "capability", "letter"),
    [
        (name, capability, letter)
        for name, letters in KNOWN.items()
        for capability, letter in zip(CAPABILITIES, letters, strict=True)
        if letter != " "
    ],
)
def test_a_release_is_judged_as_its_source_says(release: Release, name: str, capability: str, letter: str) -> None:
    """Yes, partly and no where the source says so; unknown where only a kernel package could tell."""
    assert WORDS[letter] is verdict(release(name), capability).standing
