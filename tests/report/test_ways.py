"""Ways out of an open answer, trees of no known engine, and the words that paths are told in."""

from dataclasses import replace

import pytest

from recon.facts.names import KNOWN, normalise
from recon.records.install import Engine, Install
from recon.records.path import DISPATCHES
from recon.records.unknown import PACKAGE, Unknown
from recon.records.verdict import Standing
from recon.report.detail import detail
from recon.report.findings import unrecognised, way_out
from recon.report.terminal import screen
from recon.report.words import CALLS, KERNEL_PACKAGES
from tests.report.hand import EVIL, proof, scan
from tests.report.views import view_of


def waiting(where: str = "sgl_kernel.verify_tree_greedy", standing: Standing = Standing.UNKNOWN) -> Install:
    """SGLang with one answer that a function of another distribution keeps open."""
    install = scan().installs[2]
    searched = proof(unread=(Unknown(PACKAGE, where, "it was not scanned"),))
    first, *others = install.verdicts
    return replace(install, verdicts=(replace(first, standing=standing, searched=searched), *others))


def test_an_answer_that_a_kernel_package_keeps_open_names_the_scan_that_may_close_it() -> None:
    install = waiting()
    words = (
        "Scan the kernel package beside it: recon scan --release sglang==0.5.23 --release sgl-kernel==VERSION"
        " (sglang-kernel in other releases)"
    )
    view = view_of(replace(scan(), installs=(install,)))

    assert words == way_out(install, install.verdicts)
    assert words in detail(view.findings)
    assert words in screen(view, 160)


def test_beside_a_folder_the_package_is_named_by_a_path() -> None:
    install = waiting("flashinfer.sampling.chain_speculative_sampling")
    folder = replace(install, location="/src/my tree", provenance=replace(install.provenance, environment=""))

    assert (
        "Scan the kernel package beside it: recon scan --path '/src/my tree' --path TREE_OR_WHEEL_OF_flashinfer"
        == way_out(folder, folder.verdicts)
    )


@pytest.mark.parametrize("install", [waiting("deep.walk"), waiting(standing=Standing.ABSENT), scan().installs[1]])
def test_where_no_scan_helps_none_is_named(install: Install) -> None:
    """A package that is not known as one of kernels would not be asked."""
    assert "" == way_out(install, install.verdicts)


def test_kernel_packages_are_those_that_a_scan_takes_for_companions() -> None:
    companions = [each for each in KNOWN if each.engine.is_companion]
    assert {each.package for each in companions} == set(KERNEL_PACKAGES)
    assert {each.distribution for each in companions} == {
        normalise(name) for names in KERNEL_PACKAGES.values() for name in names
    }


def test_a_tree_of_no_known_engine_is_said_with_its_folder() -> None:
    other = replace(scan().installs[1], engine=Engine.OTHER, location="/src/fork")
    view = view_of(replace(scan(), installs=(other,)))

    assert "No engine is known by this name (/src/fork): judged by the same rules." in screen(view)
    assert "" == unrecognised(scan().installs)
    assert unrecognised([replace(other, location=EVIL)]).isprintable()


def test_every_way_of_a_call_has_words() -> None:
    assert set(DISPATCHES) == set(CALLS)
