"""Questions of names: what a word means, what fits a pattern, what comes near."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.kept.kept import Kept, opened
from tests.kept.trees import keep


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The small engine, opened."""
    folder = tmp_path_factory.mktemp("kept")
    keep(folder, "one")
    with opened(folder, "one") as found:
        yield found


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("accept_kernel", ["engine/spec/accept.py:accept_kernel"]),
        ("Chain.verify", ["engine/spec/accept.py:Chain.verify"]),
        ("spec.accept.Chain.verify", ["engine/spec/accept.py:Chain.verify"]),
        ("engine.spec.accept.Chain.verify", ["engine/spec/accept.py:Chain.verify"]),
        (
            "verify",
            ["engine/deep/accept.py:verify", "engine/spec/accept.py:verify", "engine/spec/accept.py:Chain.verify"],
        ),
        ("spec/accept.py::verify", ["engine/spec/accept.py:verify", "engine/spec/accept.py:Chain.verify"]),
        ("engine/spec/accept.py::Chain.verify", ["engine/spec/accept.py:Chain.verify"]),
        ("spec/accept.py:14", ["engine/spec/accept.py:accept_kernel"]),
        ("./engine/spec/accept.py:12", ["engine/spec/accept.py:accept_kernel"]),
        ("spec/accept.py:1", ["engine/spec/accept.py:<module>"]),
        ("accept.py:1", ["engine/deep/accept.py:verify", "engine/spec/accept.py:<module>"]),
        ("spec/accept.py", ["engine/spec/accept.py:<module>"]),
        ("hain.verify", []),
        ("pec/accept.py:14", []),
        ("engine.accept.verify", []),
        ("accept_%", []),
        ("", []),
    ],
)
def test_a_word_means_all_that_end_with_it(kept: Kept, word: str, meant: list[str]) -> None:
    """At a dot or a slash; several are not merged."""
    assert meant == [f"{each.path}:{each.symbol}" for each in kept.named(word)]


def test_a_class_stands_for_its_methods(kept: Kept) -> None:
    (one,) = kept.named("Chain")

    assert {"Chain", "Chain.__init__", "Chain.verify"} == {kept.definition(each).symbol for each in kept.members(one)}


def test_kinds_and_roots_are_told(kept: Kept) -> None:
    kinds = [kept.named(word)[0].kind for word in ("accept_kernel", "lonely", "Chain", "engine/runner.py")]

    assert ["kernel", "function", "class", "module"] == kinds
    assert {"ModelRunner.execute_model", "OtherRunner.execute_model"} <= {each.symbol for each in kept.roots()}


@pytest.mark.parametrize(
    ("pattern", "kinds", "names"),
    [
        ("ACCEPT_K", ("kernel",), ["accept_kernel"]),
        ("lonely", ("function", "class"), ["lonely"]),
        ("spec.accept.l", ("function",), ["Later.verify_later", "lonely"]),
        ("*_later", ("function",), ["Later.verify_later"]),
        ("Chain.*", ("function",), ["Chain.__init__", "Chain.verify"]),
        ("engine.deep.*", ("function",), ["verify"]),
        ("verify", ("function",), ["verify", "verify", "Chain.verify", "Later.verify_later"]),
        ("accept_kernel", ("launch",), ["accept_kernel"]),
        ("chain", ("registration",), ["Chain", "chain"]),
        ("accept%", ("kernel",), []),
        ("acceptXkernel", ("kernel",), []),
    ],
)
def test_a_pattern_finds_what_it_fits(kept: Kept, pattern: str, kinds: tuple[str, ...], names: list[str]) -> None:
    """What fits best comes first."""
    assert names == [mark.name for mark in kept.found(pattern, kinds)]


def test_a_launch_and_a_registration_say_what_they_are(kept: Kept) -> None:
    (launch,) = kept.found("accept_kernel", ("launch",))
    second, first = kept.found("chain", ("registration",))

    assert ("engine/spec/accept.py", 23, "verify") == (launch.path, launch.line, launch.symbol)
    assert "launches the kernel at engine/spec/accept.py:13, certain" == launch.what
    assert "register_method('chain', 'engine.spec.accept.Chain')" == first.what
    assert ("engine/runner.py", 18, "<module>") == (second.path, second.line, second.symbol)


OPERATORS = {
    "engine/ops.py": """
import torch


@torch.library.custom_op("engine::verify", mutates_args=())
def verify(x: torch.Tensor) -> torch.Tensor:
    return x


def missing(x):
    return torch.ops.engine.absent(x + 1)
""",
}


def test_an_operator_has_its_status_and_where_it_is_registered(tmp_path: Path) -> None:
    keep(tmp_path, "ops", OPERATORS)
    with opened(tmp_path, "ops") as found:
        absent, verify = found.found("engine::*", ("op",))
        (registered,) = found.found("engine::verify", ("registration",))

    assert ("engine::verify", "not called", 5) == (verify.name, verify.what, verify.line)
    assert ("engine::absent", "missing in this build", 11) == (absent.name, absent.what, absent.line)
    assert ("engine/ops.py", 5, "registers the operator") == (registered.path, registered.line, registered.what)


@pytest.mark.parametrize(
    ("word", "near"),
    [("accept_kernle", "accept_kernel"), ("Chain.verfy", "Chain.verify"), ("Later.verify_latr", "Later.verify_later")],
)
def test_a_misspelt_word_has_near_ones(kept: Kept, word: str, near: str) -> None:
    assert near == kept.near(word)[0]


def test_nothing_near_is_nothing(kept: Kept) -> None:
    assert [] == kept.near("zzzzzzzz")
