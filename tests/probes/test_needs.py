"""Which environments can run the payload."""

import pytest

from recon.probes.needs import numbers, objections


@pytest.mark.parametrize(
    ("versions", "archs", "objected"),
    [
        (("3.12", "2.9.0+cu129", "3.5.0"), (90,), ()),
        (("3.10", "2.4.0", "3.1.0"), (80,), ()),
        (("3.9", "2.4.0", "3.1.0"), (), ("Python 3.9 is older than 3.10",)),
        (("3.12", "2.10.1", "3.10.0"), (), ()),
        (("3.12", "2.9.0", ""), (), ("there is no triton",)),
        (
            ("3.12", "2.9.0", "3.2.0"),
            (100, 120),
            (
                "triton 3.2.0 is older than 3.3.1, the first for sm_100",
                "triton 3.2.0 is older than 3.3.1, the first for sm_120",
            ),
        ),
        (("3.12", "2.9.0", "3.3.1"), (100, 120), ()),
        (("3.12", "2.9.0", "3.5.1"), (121,), ("triton 3.5.1 is older than 3.6, the first for sm_121",)),
        (("", "", ""), (), ("there is no Python", "there is no torch", "there is no triton")),
    ],
)
def test_an_environment_is_objected_to(
    versions: tuple[str, str, str], archs: tuple[int, ...], objected: tuple[str, ...]
) -> None:
    """By its versions, and by the GPU's architecture."""
    assert objected == objections(*versions, archs)


def test_versions_are_numbers_not_words() -> None:
    """2.10 comes after 2.9; what is no version comes before all."""
    assert numbers("2.10.0a0+git") > numbers("2.9.1")
    assert () == numbers("unknown")
