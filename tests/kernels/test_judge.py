"""A stochastic kernel is right up to rounding, and no farther."""

import pytest
import torch

from recon.kernels.judge import judge

Tensors = dict[str, torch.Tensor]
REST = torch.tensor([[0.5, 0.0, 0.3, 0.2]], dtype=torch.float64)
INPUTS = {"token": torch.tensor([[9, 1, 3]]), "last": torch.tensor([0.6])}


def expected(margin: float = 0.4) -> Tensors:
    path = torch.tensor([[0, 1, -1]], dtype=torch.int32)
    return {"path": path, "accepted": torch.tensor([1]), "rest": REST, "margin": torch.tensor([margin])}


def answer(accepted: int = 1, path: tuple[int, ...] = (0, 1, -1), emitted: tuple[int, ...] = (1, 2, -1)) -> Tensors:
    return {
        "accepted": torch.tensor([accepted], dtype=torch.int32),
        "path": torch.tensor([path], dtype=torch.int32),
        "emitted": torch.tensor([emitted]),
    }


def twice(tensors: Tensors) -> Tensors:
    return {name: torch.cat([tensor, tensor]) for name, tensor in tensors.items()}


def test_what_the_coins_say_is_right() -> None:
    assert not judge(answer(), INPUTS, expected())


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (answer(accepted=2), "accepted[0] is 2"),
        (answer(path=(0, 2, -1)), "path[0, 1] is 2"),
        (answer(path=(0, 1, 2)), "path[0, 2] is 2"),
        (answer(emitted=(3, 2, -1)), "emitted[0, 0] is 3"),
        (answer(emitted=(1, 2, 2)), "emitted[0, 2] is 2"),
        (answer(emitted=(1, 0, -1)), "last token of request 0 is 0"),
        (answer(emitted=(1, 1, -1)), "last token of request 0 is 1"),
        (answer(emitted=(1, 3, -1)), "last token of request 0 is 3"),
        (answer(emitted=(1, -1, -1)), "last token of request 0 is -1"),
        (answer(emitted=(1, 4, -1)), "last token of request 0 is 4"),
    ],
)
def test_anything_else_is_not(got: Tensors, said: str) -> None:
    assert said in judge(got, INPUTS, expected())


def test_a_coin_on_an_edge_leaves_both_tokens_right() -> None:
    inputs = INPUTS | {"last": torch.tensor([0.5])}

    assert not judge(answer(emitted=(1, 0, -1)), inputs, expected())
    assert not judge(answer(), inputs, expected())
    assert "last token" in judge(answer(emitted=(1, 3, -1)), inputs, expected())


def test_one_request_may_be_too_near_to_call_and_not_all() -> None:
    near = expected(margin=1e-9)

    assert not judge(answer(accepted=2), INPUTS, near)
    assert "too near" in judge(twice(answer()), twice(INPUTS), twice(near))
