"""The ground that other tests stand on: a guard that does not guard would make them all lie."""

import os
import signal
import socket
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).with_name("conftest.py")
INI = """
[pytest]
addopts = --strict-markers -p no:cacheprovider
markers =
    system
    release
    slow
    gpu
"""


@pytest.fixture
def house(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project of its own with our conftest in it, as an unconfigured user would run it."""
    for name in ("RECON_REQUIRE", "RECON_OFFLINE", "RECON_TEST_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # half of the time would go into importing them
    pytester.makeini(INI)
    pytester.makeconftest(CONFTEST.read_text())
    return pytester


def outcomes(house: pytest.Pytester, test: str, *words: str) -> dict[str, int]:
    """Run one test file in a process of its own and count how it ended."""
    house.makepyfile(test)
    return house.runpytest_subprocess(*words).parseoutcomes()


def test_a_test_can_interrupt_what_it_starts_where_a_shell_ignores_interrupts(house: pytest.Pytester) -> None:
    """As a shell does for what it runs in the background."""
    house.makepyfile("""
        import signal

        def test_interrupt():
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    """)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ended = house.runpytest_subprocess().parseoutcomes()
    finally:
        signal.signal(signal.SIGINT, before)

    assert {"passed": 1} == ended


def test_what_a_test_measured_is_printed_at_the_end(house: pytest.Pytester) -> None:
    """Whether it passes or fails."""
    house.makepyfile("""
        def test_passes(record_property):
            record_property("says", "caught: 9 of 10")

        def test_fails(record_property):
            record_property("says", "kept: 1 of 10")
            record_property("other", "not for people")
            assert False
    """)
    printed = house.runpytest_subprocess("-q").outlines

    assert (1, 1, 0) == tuple(printed.count(line) for line in ("caught: 9 of 10", "kept: 1 of 10", "not for people"))


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80)])
def test_a_socket_to_another_machine_is_refused(address: tuple[str, int]) -> None:
    """The address blocks are kept for documentation: nothing could answer there, and nothing is asked."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET

    with socket.socket(family) as door, pytest.raises(RuntimeError, match="not marked `release`"):
        door.connect(address)


def test_a_name_that_would_need_dns_is_refused() -> None:
    """Looking a name up is traffic, too."""
    with pytest.raises(RuntimeError, match="not marked `release`"):
        socket.getaddrinfo("example.invalid", 443)


def test_this_machine_can_be_reached() -> None:
    """Tests start servers of their own."""
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())

        assert "127.0.0.1" == client.getpeername()[0]


def test_each_test_has_folders_of_its_own(tmp_path: Path) -> None:
    """Neither the user's cache nor the user's runs are in reach."""
    folders = {os.environ["RECON_CACHE_DIR"], os.environ["RECON_STATE_DIR"]}

    assert {str(tmp_path / "recon-cache"), str(tmp_path / "recon-state")} == folders


def test_a_missing_program_is_a_skip_with_one_counted_reason(house: pytest.Pytester) -> None:
    """Two tests that lack different programs are counted together."""
    house.makepyfile(
        """
        import pytest
        @pytest.mark.system("no-such-program")
        def test_one(): pass
        @pytest.mark.system("sh", "no-other-program")
        def test_two(): pass
        @pytest.mark.system("no-such-program|sh")
        def test_three(): pass
        """
    )
    result = house.runpytest_subprocess("-rs")

    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED [[]2[]] *programs of the system are missing here*"])


def test_a_missing_program_fails_where_all_are_required(
    house: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Continuous integration must not grow green by losing a program."""
    monkeypatch.setenv("RECON_REQUIRE", "all")
    test = "import pytest\n@pytest.mark.system('no-such-program')\ndef test_it(): pass"

    assert {"errors": 1} == outcomes(house, test)


def test_a_missing_gpu_stays_a_skip_where_all_are_required(
    house: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can apt-get a GPU."""
    monkeypatch.setenv("RECON_REQUIRE", "all")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    test = "import pytest\n@pytest.mark.gpu\ndef test_it(): pass"

    assert {"skipped": 1} == outcomes(house, test)


def test_releases_are_left_alone_offline(house: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make test` sets RECON_OFFLINE=1."""
    test = "import pytest\n@pytest.mark.release\ndef test_it(): pass"
    online = outcomes(house, test)
    monkeypatch.setenv("RECON_OFFLINE", "1")
    offline = outcomes(house, test)

    assert [{"passed": 1}, {"skipped": 1}] == [online, offline]


def test_slow_tests_wait_for_the_flag(house: pytest.Pytester) -> None:
    """`make full` gives it."""
    test = "import pytest\n@pytest.mark.slow\ndef test_it(): pass"

    assert [{"skipped": 1}, {"passed": 1}] == [outcomes(house, test), outcomes(house, test, "--slow")]


def test_release_tests_share_one_cache(house: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wheel of 250 MB is fetched once, not once a test; runs are not shared."""
    monkeypatch.setenv("RECON_TEST_CACHE", str(tmp_path / "shared"))
    test = """
        import os, pytest
        @pytest.mark.release
        @pytest.mark.parametrize("turn", [1, 2])
        def test_it(turn, tmp_path):
            assert os.environ["RECON_CACHE_DIR"] == os.environ["RECON_TEST_CACHE"]
            assert os.environ["RECON_STATE_DIR"].startswith(str(tmp_path))
    """

    assert {"passed": 2} == outcomes(house, test)
