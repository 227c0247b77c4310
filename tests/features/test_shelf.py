"""Where features come from: ours, other distributions, the user's folder, a file that is named."""

import re
import sys
from pathlib import Path

import pytest

from recon.detectors.registry import capabilities
from recon.errors import NotFound, Unreadable, Usage
from recon.features.reading import feature_of
from recon.features.shelf import MAX_BYTES, named, read, shelf
from recon.records.feature import Feature
from tests.features.test_reading import FILE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with one feature."""
    made = tmp_path / "features"
    made.mkdir()
    (made / "mine.toml").write_text(FILE)
    return made


def test_ours_are_known_everywhere(tmp_path: Path) -> None:
    found = shelf(tmp_path / "nowhere")

    assert {"ddtree", "dflash", "eagle-tree", "medusa", "specinfer"} == set(found.features)
    assert {"recon"} == {each.origin for each in found.features.values()}
    assert () == found.unknowns


def test_a_file_in_the_users_folder_adds_one(folder: Path) -> None:
    assert str(folder / "mine.toml") == shelf(folder).features["mine"].origin


def test_a_broken_file_is_told_and_stops_nothing(folder: Path) -> None:
    (folder / "a.toml").write_text("nonsense")
    found = shelf(folder)

    assert "mine" in found.features
    assert [str(folder / "a.toml")] == [each.where for each in found.unknowns]
    assert "is not TOML" in found.unknowns[0].why


def test_a_name_of_ours_cannot_be_taken(folder: Path) -> None:
    (folder / "other.toml").write_text(FILE.replace('id = "mine"', 'id = "ddtree"'))
    found = shelf(folder)

    assert "recon" == found.features["ddtree"].origin
    assert ["there is one already, from recon"] == [each.why for each in found.unknowns]


def test_a_file_that_is_called_like_one_of_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(FILE.replace('id = "mine"', 'id = "ddtree"'))

    with pytest.raises(Usage, match="recon has a feature ddtree of its own"):
        named((str(tmp_path / "x.toml"),), shelf(tmp_path / "nowhere"))


def test_more_needs_than_anything_has_are_refused(tmp_path: Path) -> None:
    need = '[[needs]]\nid = "n{0}"\ntitle = "x"\ncapabilities = ["pos.tree"]\nwork = "kernel"\n'
    needs = "".join(need.format(number) for number in range(3000))
    (tmp_path / "x.toml").write_text(f'id = "x"\ntitle = "x"\nwhat = "x"\npaper = "x"\n{needs}')

    with pytest.raises(Usage, match="the feature: it has 3,000 needs; at most 200 are read"):
        read(tmp_path / "x.toml")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the feature: it has no needs: at least one \\[\\[needs\\]\\] is needed"),
        (
            '[[needs]]\nid = "a"\ntitle = "a"\ncapabilities = ["pos.tree"]\nwork = "kernel"\nhooks = []\n',
            "needs a: it has no hooks: at least one \\[\\[needs.hooks\\]\\] is needed",
        ),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "x.toml").write_text(f'id = "x"\ntitle = "x"\nwhat = "x"\npaper = "x"\n{text}')

    with pytest.raises(Usage, match=why):
        read(tmp_path / "x.toml")


def test_a_distribution_may_offer_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As records or as files; what is neither is told."""
    info = tmp_path / "acme_features-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-features\nVersion: 1.0\n")
    points = (
        "a = acme_features:RECORD",
        "b = acme_features:FILE",
        "c = acme_features:NUMBER",
        "d = acme_features:GONE",
    )
    (info / "entry_points.txt").write_text("[recon.features]\n" + "\n".join(points) + "\n")
    (tmp_path / "own.toml").write_text(FILE.replace('id = "mine"', 'id = "filed"'))
    (tmp_path / "acme_features.py").write_text(
        "from pathlib import Path\n"
        "from recon.features.reading import feature_of\n"
        "FILE = Path(__file__).with_name('own.toml')\n"
        "RECORD = feature_of(FILE.read_bytes().replace(b'filed', b'made'), 'acme')\n"
        "NUMBER = 7\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("RECON_PLUGINS", "on")
    monkeypatch.delitem(sys.modules, "acme_features", raising=False)
    found = shelf(tmp_path / "nowhere")

    assert {"made", "filed"} <= set(found.features)
    assert ["plug-in d", "plug-in c"] == sorted((each.what for each in found.unknowns), reverse=True)


def test_features_are_named_by_id_or_by_file(folder: Path) -> None:
    """Each once, in the order of the words."""
    known = shelf(Path("nowhere"))
    found = named(("medusa", str(folder / "mine.toml"), "medusa"), known)

    assert ["medusa", "mine"] == [each.id for each in found]


@pytest.mark.parametrize(
    ("word", "hint"), [("ddtre", "Did you mean ddtree?"), ("zzz", "Features: ddtree, dflash,"), ("zz.toml", "")]
)
def test_a_feature_that_does_not_exist_gets_a_suggestion(word: str, hint: str) -> None:
    with pytest.raises(NotFound) as told:
        named((word,), shelf(Path("nowhere")))

    assert told.value.hint.startswith(hint)


def test_a_file_that_cannot_be_one_is_not_read_whole(tmp_path: Path) -> None:
    (tmp_path / "huge.toml").write_bytes(b"#" * (MAX_BYTES + 1))

    with pytest.raises(Unreadable, match="is larger than"):
        read(tmp_path / "huge.toml")


def test_the_feature_that_the_documentation_shows_is_one() -> None:
    """Readers start from it."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "using.md").read_text()
    (shown,) = re.findall(r"^```toml\n(id = .*?)^```", page, re.MULTILINE | re.DOTALL)

    assert ["walk"] == [need.id for need in feature_of(shown.encode(), "using.md").needs]


EACH = pytest.mark.parametrize("feature", shelf(Path("nowhere")).features.values(), ids=lambda each: each.id)


@EACH
def test_every_need_of_ours_says_where_it_would_be_built(feature: Feature) -> None:
    """A step without a pointer could never name a place; its own nearest misses must be among them."""
    silent = [
        need.id
        for need in feature.needs
        if not any(hook.capability in need.capabilities and hook.part.value == "nearest" for hook in need.hooks)
    ]

    assert [] == silent


@EACH
def test_every_capability_of_ours_is_judged(feature: Feature) -> None:
    """A misspelled one would never be met, and never be said."""
    named = {name for need in feature.needs for name in need.capabilities}
    pointed = {hook.capability for need in feature.needs for hook in need.hooks}

    assert set() == (named | pointed) - {each.id for each in capabilities()}


@EACH
def test_every_text_of_ours_is_a_sentence_or_a_name(feature: Feature) -> None:
    """Tasks are read one under the other."""
    tasks = [hook.task for need in feature.needs for hook in need.hooks]

    assert [] == [task for task in tasks if not (task[0].isupper() and task.endswith("."))]
    assert feature.what.endswith(".")
    assert [] == [need.title for need in feature.needs if need.title.endswith(".")]
