"""Releases beside the two that the shapes grew on: standings that were verified by reading their sources."""

import pytest

from recon.records.verdict import Standing
from tests.releases.conftest import Release
from tests.releases.facts import verdict

pytestmark = [pytest.mark.release, pytest.mark.slow]

CAPABILITIES = (
    "accept.linear.greedy",
    "accept.linear.stochastic",
    "accept.synthetic",
    "accept.tree.greedy",
    "accept.tree.stochastic",
    "attn.mask_hook",
    "attn.tree.draft",
    "attn.tree.verify",
)
WORDS = {"p": Standing.PRESENT, "/": Standing.PARTIAL, "-": Standing.ABSENT, "?": Standing.UNKNOWN}
# One letter a capability, in the order above; a space leaves one out. SGLang 0.4.6 forces a length where no token is
# looked up, which is not seen yet.
KNOWN = {
    "vllm==0.6.6.post1": "/p------",
    "vllm==0.11.0": "pp---pp/",
    "vllm==0.33.0": "ppp--p--",
    "sglang==0.3.6": "--------",
    "sglang==0.4.6.post5": "?- ??pp?",
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
