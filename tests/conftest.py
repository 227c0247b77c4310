"""What every test can rely on: folders of its own, no network unless it says so, no plug-ins, and honest skips.

Markers decide what a test may need:
    system("sshd", "fish")   programs of the system; "chromium|google-chrome" means any of them
    release                  a published release, through the network
    gpu                      a GPU that torch can use
    slow                     minutes; runs with --slow, as `make full` does
Tests below tests/kernels import torch and triton, so they are collected only where both are installed.
"""

import contextlib
import importlib.util
import ipaddress
import os
import shutil
import signal
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KERNEL_TESTS = ROOT / "tests" / "kernels"
EVERYWHERE = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"))
LONG = (
    "releases/test_sglang",
    "releases/test_vllm",
    "releases/test_renamed",
    "detectors/test_mutants",
    "cli/test_new",
    "releases/test_on_hosts",
    "hosts/test_exec_script",
    "ssh/test_safety",
    "pipeline/test_hosts",
    "ssh/test_release",
    "ssh/test_hostile",
    "kernels/test_interpreter",
    "kernels/test_journey",
    "kernels/test_behaviour",
    "kernels/test_draws",
)
"""Files that take longer than their number of tests tells.

What asks for a release that another reads comes later, and so does what runs scripts on a host: those give way to
everybody, and would not end while two releases are read.
"""
HAS_TORCH = all(importlib.util.find_spec(name) is not None for name in ("torch", "triton"))


class NetworkRefused(RuntimeError):
    """A test reached for the network without being marked `release`."""


class Network:
    """Lets sockets go no further than this machine, except while a test that may is running."""

    def __init__(self) -> None:
        self.open = False
        self._connect = socket.socket.connect
        self._connect_ex = socket.socket.connect_ex
        self._getaddrinfo = socket.getaddrinfo

    def install(self) -> None:
        """Put the guard in front of the ways in which Python reaches a host."""

        def connect(this: socket.socket, address: object, /) -> None:
            self.refuse_unless_local(this.family, address)
            self._connect(this, address)  # type: ignore[arg-type]  # any address that socket takes

        def connect_ex(this: socket.socket, address: object, /) -> int:
            self.refuse_unless_local(this.family, address)
            return self._connect_ex(this, address)  # type: ignore[arg-type]  # likewise

        def getaddrinfo(host: object, *rest: object, **named: object) -> object:
            if host is not None:
                self.refuse_unless_local(socket.AF_INET, (host,))
            return self._getaddrinfo(host, *rest, **named)  # type: ignore[arg-type]  # likewise

        socket.socket.connect = connect  # type: ignore[method-assign,assignment]  # that is the guard
        socket.socket.connect_ex = connect_ex  # type: ignore[method-assign,assignment]  # likewise
        socket.getaddrinfo = getaddrinfo  # type: ignore[assignment]  # likewise

    def refuse_unless_local(self, family: int, address: object) -> None:
        """Raise NetworkRefused for an address that leaves this machine."""
        if self.open or family not in (socket.AF_INET, socket.AF_INET6):
            return
        host = address[0] if isinstance(address, tuple) and address else address
        if not is_local(host):
            raise NetworkRefused(f"this test is not marked `release` and reached for {host!r}")


def is_local(host: object) -> bool:
    """Whether a host name or address means this machine."""
    name = host.decode(errors="replace") if isinstance(host, bytes) else str(host)
    if name in ("localhost", ""):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


NETWORK = Network()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --slow."""
    parser.addoption("--slow", action="store_true", help="also run what is marked slow")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what is collected and set up outside of a test away from the user's folders, network and plug-ins too."""
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    home = cache.mkdir("recon") if cache else Path(tempfile.gettempdir()) / f"recon-tests-{os.getuid()}"
    os.environ["RECON_CACHE_DIR"] = str(home / "cache")
    os.environ["RECON_STATE_DIR"] = str(home / "state")
    os.environ["RECON_CONFIG_DIR"] = str(home / "config")
    os.environ["RECON_PLUGINS"] = "off"
    os.environ["RECON_TEST_CACHE"] = os.environ.get("RECON_TEST_CACHE") or str(home / "releases")  # "" is no folder
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "RECON_CONFIG"):
        os.environ.pop(name, None)
    NETWORK.install()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as below `make check &`; tests interrupt what they start
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as below nohup
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if config.pluginmanager.hasplugin("hypothesispytest"):
        hypothesis = importlib.import_module("hypothesis")
        # How long an example takes says more about a shared machine than about the code.
        hypothesis.settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
        hypothesis.settings.load_profile("house")


def pytest_report_header() -> list[str]:
    """Say what this session leaves out as a whole."""
    return [] if HAS_TORCH else ["tests/kernels: not collected here, torch and triton are not installed"]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave the payload's tests to an environment that has torch."""
    if not HAS_TORCH and collection_path.is_relative_to(KERNEL_TESTS):
        return True
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with long files, and end with short ones, so that no core waits for the last file of another."""
    sizes = Counter(item.path for item in items)
    ranks = {KERNEL_TESTS.parent / f"{name}.py": rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: (ranks.get(item.path, len(LONG)), -sizes[item.path]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured, wherever they ran: `record_property("says", "mutants caught: ...")`."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "says" and report.when == "call":
                    terminalreporter.write_line(line)


def missing_programs(wanted: tuple[str, ...], which: Callable[[str], str | None]) -> list[str]:
    """Those of the wanted programs of which no alternative is found."""
    return [names for names in wanted if not any(which(name) for name in names.split("|"))]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, each kind with one reason, so that the summary counts them together."""
    if item.get_closest_marker("slow") and not item.config.getoption("--slow"):
        pytest.skip("slow: runs with --slow, as `make full` does")
    if item.get_closest_marker("release") and os.environ.get("RECON_OFFLINE") == "1":
        pytest.skip("reads published releases, and RECON_OFFLINE=1")
    wanted = tuple(name for mark in item.iter_markers("system") for name in mark.args)
    missing = missing_programs(wanted, lambda name: shutil.which(name, path=EVERYWHERE))
    if missing and os.environ.get("RECON_REQUIRE") == "all":
        pytest.fail(f"RECON_REQUIRE=all, and there is no {', '.join(missing)} on this machine", pytrace=False)
    if missing:
        pytest.skip("programs of the system are missing here")
    if item.get_closest_marker("gpu") and not has_gpu():
        pytest.skip("no GPU that torch can use")


def has_gpu() -> bool:
    """Whether torch is installed and sees a GPU."""
    if not HAS_TORCH:
        return False
    torch = importlib.import_module("torch")
    return bool(torch.cuda.is_available())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Open the network for a test marked `release`, its fixtures included, and close it after."""
    NETWORK.open = item.get_closest_marker("release") is not None
    try:
        return (yield)
    finally:
        NETWORK.open = False


@pytest.fixture(autouse=True)
def _own_folders(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a cache and a state folder of its own; release tests share blobs, so that each is fetched once."""
    shared = request.node.get_closest_marker("release") is not None
    cache = Path(os.environ["RECON_TEST_CACHE"]) if shared else tmp_path / "recon-cache"
    monkeypatch.setenv("RECON_CACHE_DIR", str(cache))
    monkeypatch.setenv("RECON_STATE_DIR", str(tmp_path / "recon-state"))


@pytest.fixture
def no_network() -> Generator[None, None, None]:
    """Close the network for a part of a release test: to show that something was kept and is not fetched again."""
    was = NETWORK.open
    NETWORK.open = False
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, NETWORK, "open", was)
        yield
