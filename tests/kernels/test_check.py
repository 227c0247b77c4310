"""A kernel that is wrong in any of these ways does not get as far as the clock."""

import dataclasses

import pytest
import torch

from recon.kernels.check import check
from recon.kernels.op import Op, Work
from recon.kernels.wire import Agreement, Axes
from recon.kernels.work import INTERPRETER
from tests.kernels.fakes import doubling, right

CASES: tuple[Axes, ...] = ({"size": 1}, {"size": 8})


def check_on_cpu(op: Op, cases: tuple[Axes, ...] = CASES) -> Agreement:
    return check(op, op.variants["only"], cases, seed=5, device=torch.device("cpu"), card=INTERPRETER)


def misses_the_last(work: Work, _config: Axes) -> None:
    torch.mul(work.inputs["x"][:-1], 2, out=work.outputs["y"][:-1])


def is_off_by_one(work: Work, _config: Axes) -> None:
    work.outputs["y"].copy_(work.inputs["x"] * 2 + 1)


def writes_beside(work: Work, config: Axes) -> None:
    right(work, config)
    y = work.outputs["y"]
    y.as_strided((1,), (1,), y.storage_offset() + len(y)).fill_(7)


def leaves_scratch_behind(work: Work, config: Axes) -> None:
    right(work, config)
    work.scratch["count"].add_(1)


def works_once(work: Work, config: Axes) -> None:
    if not work.inputs.setdefault("used", torch.zeros(1)).item():
        right(work, config)
    work.inputs["used"].fill_(1)


def test_a_right_kernel_agrees_on_every_case() -> None:
    agreement = check_on_cpu(doubling(right))

    assert (2, 0) == (agreement.cases, agreement.mismatches)


def test_a_word_is_said_before_each_case_since_silence_passes_for_a_hang() -> None:
    told: list[str] = []

    def launch(work: Work, config: Axes) -> None:
        told.append("launch")
        right(work, config)

    def tell() -> None:
        told.append("word")

    op = doubling(launch)
    check(op, op.variants["only"], CASES, seed=5, device=torch.device("cpu"), card=INTERPRETER, tell=tell)

    assert ["word", "launch", "launch"] * 2 == told


def test_a_variant_answers_for_the_outputs_that_it_names() -> None:
    def one_of_two(work: Work, config: Axes) -> None:
        assert ["y"] == list(work.outputs)
        right(work, config)

    op = doubling(one_of_two)

    def made(axes: Axes, seed: int, device: torch.device) -> Work:
        work = op.work(axes, seed, device)
        return dataclasses.replace(work, outputs={**work.outputs, "other": torch.zeros(3)})

    both = dataclasses.replace(
        op, work=made, variants={"only": dataclasses.replace(op.variants["only"], outputs=("y",))}
    )

    assert (2, 0) == (check_on_cpu(both).cases, check_on_cpu(both).mismatches)


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (misses_the_last, "y"),
        (is_off_by_one, "the reference says"),
        (writes_beside, "written outside of y"),
        (leaves_scratch_behind, "count"),
        (works_once, "second launch"),
    ],
)
def test_a_wrong_kernel_is_caught(launch: object, said: str) -> None:
    agreement = check_on_cpu(doubling(launch))  # type: ignore[arg-type]

    assert 2 == agreement.mismatches
    assert said in agreement.detail


def test_configurations_are_checked_in_turn() -> None:
    used: list[object] = []

    def launch(work: Work, config: Axes) -> None:
        used.append(config["way"])
        right(work, config)

    check_on_cpu(doubling(launch, configs=({"way": 1}, {"way": 2})), ({"size": 2}, {"size": 3}, {"size": 4}))

    assert [1, 1, 2, 2, 1, 1] == used


def test_what_is_changed_in_place_is_put_back_before_each_launch() -> None:
    def doubles(work: Work, _config: Axes) -> None:
        work.scratch["count"].mul_(2)
        right(work, {})

    def reset(work: Work) -> None:
        work.scratch["count"].fill_(3)

    def compare(work: Work) -> str:
        return "" if [6] == work.scratch["count"].tolist() else f"count is {work.scratch['count'].tolist()}"

    op = dataclasses.replace(doubling(doubles), compare=compare, reset=reset)

    assert 0 == check_on_cpu(op).mismatches
    assert 2 == check_on_cpu(dataclasses.replace(op, reset=doubling(doubles).reset)).mismatches
