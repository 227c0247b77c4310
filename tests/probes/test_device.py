"""What nvidia-smi says, through one that says what the test wants."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recon.kernels import device as devices
from recon.kernels.device import Reading, Smi, mps_alive, objections
from recon.kernels.wire import State

FREE = (
    "GPU-1, 580.1, 1980, 3201, 70.5, 700.00, 30, 0x0000000000000004, Enabled, Disabled, Default, Enabled, 4, 143771, 0,"
    " 00000000:81:00.0, 2, No, None"
)

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a script first on PATH as nvidia-smi; it notes its words in a file."""

    def put(body: str) -> Path:
        program = tmp_path / "nvidia-smi"
        program.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\n{body}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return tmp_path / "asked"

    return put


def answering(gpu: str, processes: str = "") -> str:
    return f'case "$*" in *--query-gpu*) echo "{gpu}";; *) printf "{processes}";; esac'


def test_a_gpu_is_read_with_its_state(install: Install) -> None:
    asked = install(answering(FREE, "GPU-1, 77, 500\\nGPU-2, 78, 9\\n"))
    reading = Smi("0").read()

    assert reading is not None
    assert ("GPU-1", "580.1", 143771.0) == (reading.uuid, reading.driver, reading.memory_total_mib)
    assert ("1980", "3201", "70.5", "0x0000000000000004", "Default") == (
        reading.state.sm_clock_mhz,
        reading.state.memory_clock_mhz,
        reading.state.power_w,
        reading.state.throttle_reasons,
        reading.state.compute_mode,
    )
    assert "77 500" == reading.state.other_processes
    assert "-i 0" in asked.read_text()


def test_what_a_gpu_does_not_have_is_empty(install: Install) -> None:
    install(answering(FREE.replace("Enabled, Disabled", "[N/A], [Not Supported]")))
    reading = Smi("0").read()

    assert reading is not None
    assert ("", "") == (reading.state.ecc, reading.state.mig)


def test_an_older_driver_is_asked_by_older_names(install: Install) -> None:
    asked = install(
        'case "$*" in *clocks_event_reasons*)'
        " echo 'Field \"clocks_event_reasons.active\" is not a valid field to query.';"
        f' exit 2;; *clocks_throttle_reasons*) echo "{FREE}";; esac'
    )
    smi = Smi("0")
    first, second = smi.read(), smi.read()

    assert first is not None
    assert first == second
    assert "0x0000000000000004" == first.state.throttle_reasons
    assert 1 == asked.read_text().count("clocks_event_reasons")


def test_a_field_that_no_driver_name_fits_is_left_out(install: Install) -> None:
    without = FREE.replace("143771, 0,", "143771,")
    install(
        'case "$*" in *utilization.gpu*) echo \'Field "utilization.gpu" is not a valid field to query.\'; exit 2;;'
        f' *query-gpu*) echo "{without}";; esac'
    )
    reading = Smi("0").read()

    assert reading is not None
    assert "" == reading.state.utilization_percent


def test_one_that_hangs_is_let_go_and_not_asked_again(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "QUERY_DEADLINE_S", 0.3)
    asked = install("trap '' TERM; sleep 60")
    smi, begin = Smi("0"), time.monotonic()

    assert smi.read() is None
    assert smi.read() is None
    assert time.monotonic() - begin < 10
    assert "did not answer" in smi.silent
    assert 1 == len(asked.read_text().splitlines())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo NVIDIA-SMI has failed because it could not reach the driver.; exit 9", "NVIDIA-SMI has failed because"),
        ("echo; echo No devices were found; exit 6", "No devices were found"),
        ("printf '\\247\\377 gpu\\n'", "\ufffd\ufffd gpu"),
        ("exit 9", "it says nothing"),
        ("yes words | head -c 3000000", "words"),
    ],
)
def test_what_it_says_instead_of_readings_is_told(install: Install, body: str, said: str) -> None:
    install(body)
    smi = Smi("9")

    assert smi.read() is None
    assert smi.complaint.startswith(f"nvidia-smi: {said}")
    assert len(smi.complaint) < 400


def test_no_nvidia_smi_is_no_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    smi = Smi("0")

    assert smi.read() is None
    assert smi.silent.startswith("nvidia-smi: ")


@pytest.mark.parametrize("said", ["", "No devices were found", "a, b, c"])
def test_an_answer_of_another_form_is_no_reading(install: Install, said: str) -> None:
    install(f'echo "{said}"')

    assert Smi("0").read() is None


IDLE = State(compute_mode="Default", mig="Disabled", memory_used_mib="4", utilization_percent="0")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"other_processes": "77 500"}, "77 500"),
        ({"memory_used_mib": "101"}, "101 of 10000 MiB"),
        ({"memory_used_mib": "99"}, ""),
        ({"utilization_percent": "3"}, "3 % busy"),
        ({"compute_mode": "Exclusive_Process"}, "Exclusive_Process"),
        ({"compute_mode": ""}, ""),
        ({"mig": "Enabled"}, "MIG"),
        ({"memory_used_mib": ""}, ""),
    ],
)
def test_a_gpu_that_is_somebody_elses_is_objected_to(changed: dict[str, str], said: str) -> None:
    state = State(**{**{name: getattr(IDLE, name) for name in State.__dataclass_fields__}, **changed})
    found = objections(Reading("GPU-1", "580", 10_000.0, state))

    assert bool(said) == bool(found)
    assert said in "".join(found)


def test_an_mps_server_is_seen(tmp_path: Path) -> None:
    for pid, name in (("1", "init"), ("20", "nvidia-cuda-mps-server")):
        (tmp_path / "proc" / pid).mkdir(parents=True)
        (tmp_path / "proc" / pid / "comm").write_text(f"{name}\n")

    assert mps_alive(tmp_path)
    (tmp_path / "proc" / "20" / "comm").write_text("bash\n")
    assert not mps_alive(tmp_path)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("echo '[1.0] NVRM: Xid (PCI:0000:81:00): 31, pid=7'; echo '[2.0] NVRM: Xid (PCI:0000:82:00): 79'", "1 of 31"),
        ("echo '[1.0] NVRM: loading NVIDIA UNIX Kernel Module'", "none"),
        ("echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1", ""),
        ("exit 0", ""),
    ],
    ids=["of this GPU", "none", "refused", "nothing at all"],
)
def test_errors_are_read_from_the_log_of_the_kernel_where_it_may_be_read(
    install: Install, tmp_path: Path, log: str, said: str
) -> None:
    """What could not be read is not called none."""
    install(answering(FREE))
    (tmp_path / "dmesg").write_text(f"#!/bin/sh\n{log}\n")
    (tmp_path / "dmesg").chmod(0o755)
    reading = Smi("0").read()

    assert reading is not None
    assert said == reading.state.xids


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("1, 0, No, Yes", "1 correctable, 0 uncorrectable, No pending, Yes failure"),
        ("[N/A], [N/A], [N/A], [N/A]", ""),
        ('Option "--query-remapped-rows" is not recognized.', ""),
    ],
)
def test_the_memory_of_a_gpu_is_asked_after(install: Install, reply: str, said: str) -> None:
    asked = install(f'case "$*" in *remapped*) echo \'{reply}\';; *--query-gpu*) echo "{FREE}";; esac')
    smi = Smi("0")
    first, second = smi.read(), smi.read()

    assert first is not None
    assert first == second
    assert ("2", "No", "None", said) == (
        first.state.ecc_uncorrected,
        first.state.retired_pages_pending,
        first.state.recovery_action,
        first.state.remapped_rows,
    )
    assert 1 == asked.read_text().count("remapped_rows.pending")
