"""Whether Slurm gives out the GPUs of this machine, and whether it gave any to this process."""

import contextlib
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from .processes import ROOT, running

CONFIGURATIONS = ("etc/slurm/slurm.conf", "run/slurm/conf/slurm.conf", "etc/slurm-llnl/slurm.conf")
PROGRAMS = ("srun", "salloc")
_JOB = re.compile(r"slurm\S*?/job_(\d+)")


def job_of(environment: Mapping[str, str], root: Path = ROOT) -> str:
    """The job on this machine that this process belongs to; empty where it belongs to none.

    A login that was adopted into a job has its cgroup and none of its variables; a shell of `salloc` may have the
    variables of a job that runs elsewhere, but not the name of the node.
    """
    with contextlib.suppress(OSError):
        found = _JOB.search((root / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
    return environment.get("SLURM_JOB_ID", "") if environment.get("SLURMD_NODENAME") else ""


def sign_of(environment: Mapping[str, str], root: Path = ROOT) -> str:
    """By what it shows that Slurm gives out what this machine has; empty where nothing says so."""
    if "slurmd" in running(root):
        return "slurmd is running"
    for name in PROGRAMS:
        if shutil.which(name, path=environment.get("PATH", "")):
            return f"there is {name}"
    return next((f"there is /{name}" for name in CONFIGURATIONS if (root / name).exists()), "")


def objection(gpu: str, environment: Mapping[str, str], uuid_of: Callable[[str], str], root: Path = ROOT) -> str:
    """Why a GPU must not be taken past Slurm; empty where nothing speaks against it.

    Args:
        gpu: Its index or UUID; empty for the first that is visible.
        environment: Variables of this process.
        uuid_of: UUID of a GPU by its index or UUID; empty where it is not known.
        root: Where the files of the system lie.
    """
    job = job_of(environment, root)
    if not job:
        sign = sign_of(environment, root)
        return f"Slurm gives out the GPUs here ({sign}), and this is no job of its" if sign else ""
    given = [each.strip() for each in environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if each.strip()]
    if not gpu or not given or gpu in given:
        return ""
    uuid = uuid_of(gpu)
    if uuid and uuid in map(uuid_of, given):
        return ""
    return f"GPU {gpu} is none of those that the job {job} of Slurm was given: {', '.join(given)}"
