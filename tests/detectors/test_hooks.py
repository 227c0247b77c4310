"""Torch's attention as a door for masks: only where the mask of a draft tree arrives."""

import pytest

from recon.detectors.hooks import hooks
from recon.detectors.testing import indexed

BUILDER = """
def ancestors(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i in range(1, len(parents)):
        mask[i] |= mask[parents[i]]
    return mask
"""


def doors(source: str) -> list[tuple[str, int]]:
    """The functions of a file with such a door, and the lines of the calls."""
    return [(hook.function.symbol, hook.line) for hook in hooks(indexed({"a.py": source}))]


@pytest.mark.parametrize(
    "given",
    [
        "mask",
        "attn_mask=mask",
        "attn_mask=mask[None]",
        "attn_mask=mask.to(q.dtype)",
        "attn_mask=mask[None, None].bool()",
        "attn_mask=ancestors(parents)",
        "attn_mask=self.mask",
    ],
)
def test_the_mask_of_a_tree_is_followed_to_the_call(given: str) -> None:
    """By name, by place, with axes added, in another type, or straight from its builder."""
    source = f"""{BUILDER}

class Layer:
    def prepare(self, parents):
        self.mask = ancestors(parents)

    def attend(self, q, k, v, parents):
        mask = ancestors(parents)
        return F.scaled_dot_product_attention(q, k, v, {given})
"""

    assert [("Layer.attend", 15)] == doors(source)


@pytest.mark.parametrize("given", ["is_causal=True", "attn_mask=None", "attn_mask=bias", "attn_mask=padding(q)"])
def test_any_other_mask_tells_nothing(given: str) -> None:
    """Encoders hold the same call, beside a tree's mask or not."""
    source = f"""{BUILDER}

def padding(q):
    return q.new_ones(len(q))


def attend(q, k, v, bias, parents):
    mask = ancestors(parents)
    return F.scaled_dot_product_attention(q, k, v, {given})
"""

    assert [] == doors(source)


def test_a_mask_comes_through_the_caller() -> None:
    """The door is where the call stands."""
    source = f"""{BUILDER}

def attend(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def verify(q, k, v, parents):
    return attend(q, k, v, ancestors(parents))
"""

    assert [("attend", 10)] == doors(source)
