"""Detectors of other distributions: heard where they take nobody's name, and watched while they work."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recon.detectors import registry, survey
from recon.detectors.foreign import FAILED
from recon.detectors.registry import capabilities, detectors, shapes, shapes_version, unheard
from recon.detectors.testing import indexed
from recon.judging import verdicts_of
from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.records.verdict import Standing, Verdict

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = """
from recon.detectors.api import Detector, Feature, Findings, Shape, Sighting
from recon.detectors.places import seen

def find(view):
    {find}
    for call, _ in view.calls("shuffle"):
        yield Sighting("shuffling", call.line, "shuffles")

SHAPE = Shape("{shape}", "a call that shuffles what it was given", ({wanted},), find)

def detect(index):
    {detect}
    return Findings(evidence=tuple(seen(index, SHAPE.id)))

DETECTOR = Detector("{capability}", "{title}", "What it is", (SHAPE,), detect)
"""
GIVEN = {
    "find": "pass",
    "detect": "pass",
    "capability": "acme.shuffle",
    "title": "Shuffles",
    "shape": "shuffling",
    "wanted": "Feature.LOOP",
}
TREE = {
    "e/a.py": "def one(xs):\n    for x in xs:\n        shuffle(x)\n",
    "e/b.py": "def two(xs):\n    for x in xs:\n        print(x)\n",
}
Offer = Callable[..., None]


def clear() -> None:
    """Forget what is registered."""
    for each in (registry.detectors, registry._heard, registry.shapes, registry.shapes_version, survey._asked):
        each.cache_clear()


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Installs a distribution whose modules are given by name, each offered as a detector."""
    monkeypatch.setenv("RECON_PLUGINS", "on")
    monkeypatch.syspath_prepend(str(tmp_path))
    clear()

    def install(point: str = "{}:DETECTOR", **modules: str) -> None:
        info = tmp_path / "acme_detectors-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-detectors\nVersion: 1.0\n")
        points = "\n".join(f"{name} = {point.format(name)}" for name in modules)
        (info / "entry_points.txt").write_text(f"[recon.detectors]\n{points}\n")
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)

    yield install
    clear()


def example(**changes: str) -> str:
    """The source of a detector."""
    return EXAMPLE.format(**{**GIVEN, **changes})


def judged(capability: str = "acme.shuffle") -> Verdict:
    """Its verdict on a small tree."""
    (found,) = (each for each in verdicts_of(indexed(TREE), Silent()) if each.capability == capability)
    return found


def test_a_detector_of_another_distribution_joins_ours(offer: Offer) -> None:
    """With its shapes and its page."""
    offer(acme_one=example())

    assert "acme.shuffle" in [each.capability for each in detectors()]
    assert "shuffling" in [each.id for each in shapes()]
    assert ["What it is"] == [each.help for each in capabilities() if each.id == "acme.shuffle"]
    assert sorted(each.capability for each in detectors()) == [each.capability for each in detectors()]
    assert () == unheard()


def test_it_judges_as_ours_do(offer: Offer) -> None:
    """Its places are the lines that its shape named."""
    offer(acme_one=example())
    verdict = judged()

    assert Standing.PRESENT is verdict.standing
    assert [("e/a.py", "one", 3)] == [(each.path, each.symbol, each.line) for each in verdict.evidence]


@pytest.mark.parametrize("workers", [0, 2])
def test_it_is_asked_in_worker_processes_too(offer: Offer, tmp_path: Path, workers: int) -> None:
    """As ours are, however the tree is read."""
    offer(acme_one=example())
    folder = tmp_path / "tree" / "e"
    folder.mkdir(parents=True)
    for name, text in {**TREE, "e/__init__.py": ""}.items():
        (folder / Path(name).name).write_text(text)
    settings = Settings(tmp_path / "cache", tmp_path / "state", compiled=True, workers=workers)
    run = scan(ScanTargets((str(folder.parent),), (), local=False), settings, Silent())
    (standing,) = (each.standing for each in run.installs[0].verdicts if each.capability == "acme.shuffle")

    assert Standing.PRESENT is standing


def test_a_module_or_a_package_may_be_offered(offer: Offer, tmp_path: Path) -> None:
    """A package is walked; what is broken in it is said, and its neighbours are heard."""
    package = tmp_path / "acme_many"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "good.py").write_text(example(capability="acme.good", shape="good"))
    (package / "bad.py").write_text("import no_such_module_at_all\n")
    offer("{}", acme_one=example())
    info = tmp_path / "acme_detectors-1.0.dist-info" / "entry_points.txt"
    info.write_text(info.read_text() + "many = acme_many\n")

    assert {"acme.good", "acme.shuffle"} <= {each.capability for each in detectors()}
    assert ["ModuleNotFoundError: No module named 'no_such_module_at_all'"] == [each.why for each in unheard()]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (example(capability="accept.tree.greedy"), "accept.tree.greedy is judged by recon itself"),
        (example(capability="Nonsense"), "'Nonsense' is no dotted name of a capability"),
        (example(title=""), "acme.shuffle lacks a title, a page or a function"),
        (example(shape="walk"), "there is another shape walk"),
        (example(shape="a.b"), "which is no shape with a plain name"),
        (example(wanted="Feature(0)"), "shape shuffling would have every function read, or none"),
        ("DETECTOR = 7\n", "it offers a int, not a Detector"),
        ("raise RuntimeError('it is Tuesday')\n", "RuntimeError: it is Tuesday"),
        ("import sys\nsys.exit('no')\n", "SystemExit: no"),
    ],
)
def test_a_detector_that_cannot_be_heard_is_said(offer: Offer, source: str, why: str) -> None:
    """And ours go on."""
    known = [each.capability for each in detectors()]
    clear()
    offer(acme_bad=source)

    assert known == [each.capability for each in detectors()]
    assert [True] == [why in each.why and "acme-detectors" in each.where for each in unheard()]


def test_of_two_that_speak_for_one_capability_one_is_heard(offer: Offer) -> None:
    """The message says who has it."""
    offer(acme_one=example(), acme_two=example(shape="other"))

    assert ["acme.shuffle is judged by acme-detectors"] == [each.why for each in unheard()]


def test_two_may_ask_for_one_shape(offer: Offer) -> None:
    """The same object, asked once."""
    second = (
        "from dataclasses import replace\nfrom acme_one import DETECTOR as ONE\n"
        "DETECTOR = replace(ONE, capability='acme.again')\n"
    )
    offer(acme_one=example(), acme_two=second)

    assert {"acme.shuffle", "acme.again"} <= {each.capability for each in detectors()}
    assert 1 == [each.id for each in shapes()].count("shuffling")
    assert Standing.PRESENT is judged("acme.again").standing


def test_a_detector_that_fails_knows_nothing_and_ours_do(offer: Offer) -> None:
    """Its answer is unknown, with the reason; no other changes."""
    ours = {each.capability: each.standing for each in verdicts_of(indexed(TREE), Silent())}
    clear()
    offer(acme_one=example(detect="raise KeyError('x')"))
    verdicts = {each.capability: each for each in verdicts_of(indexed(TREE), Silent())}
    failed = verdicts.pop("acme.shuffle")

    assert Standing.UNKNOWN is failed.standing
    assert "KeyError: 'x'" in failed.reason
    assert "acme-detectors" in failed.reason
    assert ours == {name: each.standing for name, each in verdicts.items()}


@pytest.mark.parametrize("answer", ["return 7", "return Findings(evidence=('here',))"])
def test_an_answer_that_is_none_is_no_answer(offer: Offer, answer: str) -> None:
    offer(acme_one=example(detect=answer))

    assert Standing.UNKNOWN is judged().standing
    assert "it answers with no Findings of Evidence" in judged().reason


def test_a_shape_that_fails_blurs_its_own_absence_alone(offer: Offer) -> None:
    """The function in which it failed could hold the answer."""
    offer(acme_one=example(find="raise ValueError('lost')"))
    index = indexed(TREE)
    failed = judged()

    assert Standing.UNKNOWN is failed.standing
    assert "shape shuffling failed in e/a.py: one and in 1 more: ValueError: lost" in failed.reason
    assert {f"{FAILED}shuffling"} == {each.shape for found in index.sightings.values() for each in found}
    assert {} == index.refused


def test_an_edit_of_its_package_makes_kept_answers_stale(offer: Offer, tmp_path: Path) -> None:
    """And so does its being there at all."""
    versions = [shapes_version()]
    clear()
    offer(acme_one=example())
    versions.append(shapes_version())
    (tmp_path / "acme_one.py").write_text(example(find="view.steps"))
    clear()
    versions.append(shapes_version())

    assert 3 == len(set(versions))


def test_its_page_is_explained_and_what_is_not_heard_is_said(offer: Offer, tmp_path: Path) -> None:
    """By the command, which finds both by their entry points."""
    offer(acme_one=example(), acme_bad="DETECTOR = 7\n")
    surroundings = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "recon", "explain", "acme.shuffle"]
    done = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False)

    assert (0, "acme.shuffle\nShuffles\n\nWhat it is\n") == (done.returncode, done.stdout)
    assert "warning: plug-in acme_bad (acme_bad of acme-detectors): it offers a int, not a Detector\n" == done.stderr


def test_a_scan_says_what_it_did_not_hear(offer: Offer, tmp_path: Path) -> None:
    """In its run, beside what else it does not know."""
    offer(acme_bad="DETECTOR = 7\n")
    (tmp_path / "tree" / "e").mkdir(parents=True)
    (tmp_path / "tree" / "e" / "__init__.py").write_text("")
    settings = Settings(tmp_path / "cache", tmp_path / "state", compiled=True, workers=0)
    run = scan(ScanTargets((str(tmp_path / "tree"),), (), local=False), settings, Silent())

    assert ["plug-in acme_bad"] == [each.what for each in run.unknowns]
