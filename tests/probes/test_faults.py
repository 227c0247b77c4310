"""What the kernel's log says of a GPU, and which of it no program can have done."""

import pytest

from recon.kernels.faults import beyond_programs, words, xids_of

LOG = """\
[   12.1] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04
[  101.5] NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=python3, Ch 00000008, intr 00000000. MMU Fault
[  102.0] NVRM: Xid (0000:3B:00.0): 13, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Illegal Instruction
[  200.0] NVRM: Xid (PCI:0000:b1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[  200.1] NVRM: GPU at PCI:0000:3b:00: GPU-5d5ba0d6
[  201.0] NVRM: Xid (PCI:0001:3b:00): 48, another GPU of the same number in another domain
"""


@pytest.mark.parametrize(
    ("bus", "found"),
    [
        ("00000000:3B:00.0", (31, 13)),
        ("0000:3b:00", (31, 13)),
        ("00000000:B1:00.0", (79,)),
        ("00000001:3B:00.0", (48,)),
        ("00000000:3C:00.0", ()),
        ("", None),
        ("[N/A]", None),
    ],
)
def test_errors_are_those_of_the_gpu_at_an_address(bus: str, found: tuple[int, ...] | None) -> None:
    assert found == xids_of(LOG, bus)


def test_a_log_that_may_not_be_read_has_no_count() -> None:
    assert xids_of(None, "0000:3b:00") is None
    assert ("", "none", "2 of 13, 1 of 31") == (words(None), words(()), words((13, 31, 13)))


@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        ((), (79,), (79,)),
        ((79,), (79,), ()),
        ((79,), (79, 79), (79,)),
        ((), (13, 31, 43, 45), ()),  # an error of a program is the result of a kernel
        ((63, 13), (13, 94), (94,)),  # the log is a ring: its beginning is lost
        (None, (79,), ()),
        ((), None, ()),
    ],
)
def test_only_new_errors_that_no_program_brings_about_count(
    before: tuple[int, ...] | None, now: tuple[int, ...] | None, new: tuple[int, ...]
) -> None:
    assert new == beyond_programs(before, now)
