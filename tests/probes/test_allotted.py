"""A machine whose GPUs Slurm gives out, by files, programs and processes that look like its own."""

from pathlib import Path

import pytest

from recon.kernels.allotted import job_of, objection, sign_of

ADOPTED = "0::/system.slice/slurmstepd.scope/job_77/step_extern/user/task_0\n"
EARLIER = "4:devices:/slurm/uid_1000/job_78/step_0\n3:cpu:/\n"
INSIDE = {"SLURM_JOB_ID": "5", "SLURMD_NODENAME": "gpu07"}


def machine(root: Path, *, cgroup: str = "0::/user.slice\n", process: str = "sshd", file: str = "") -> Path:
    """The files of a system with one process, and one file more."""
    for folder in ("self", "11"):
        (root / "proc" / folder).mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    (root / "proc/11/comm").write_text(f"{process}\n")
    if file:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("")
        (root / file).chmod(0o755)
    return root


@pytest.mark.parametrize(
    ("environment", "cgroup", "job"),
    [
        ({}, "0::/user.slice/user-0.slice/session-2.scope\n", ""),
        (INSIDE, "0::/\n", "5"),
        ({"SLURM_JOB_ID": "5"}, "0::/\n", ""),  # a shell of salloc, on the machine where it was asked for
        ({}, ADOPTED, "77"),
        ({}, EARLIER, "78"),
        ({}, "0::/kubepods/pod1/job_9\n", ""),
    ],
)
def test_a_job_is_known_by_its_cgroup_or_its_variables(
    tmp_path: Path, environment: dict[str, str], cgroup: str, job: str
) -> None:
    assert job == job_of(environment, machine(tmp_path, cgroup=cgroup))


@pytest.mark.parametrize(
    ("process", "file", "sign"),
    [
        ("sshd", "", ""),
        ("slurmd", "", "slurmd is running"),
        ("sshd", "bin/srun", "there is srun"),
        ("sshd", "bin/salloc", "there is salloc"),
        ("sshd", "etc/slurm/slurm.conf", "there is /etc/slurm/slurm.conf"),
        ("slurmctld", "", ""),
    ],
)
def test_slurm_is_seen_by_what_it_leaves_on_a_machine(tmp_path: Path, process: str, file: str, sign: str) -> None:
    assert sign == sign_of({"PATH": f"{tmp_path}/bin"}, machine(tmp_path, process=process, file=file))


def test_where_nothing_of_slurm_is_nothing_is_objected(tmp_path: Path) -> None:
    assert "" == objection("", {"CUDA_VISIBLE_DEVICES": "0"}, str, machine(tmp_path))


def test_outside_of_a_job_its_gpus_are_not_touched(tmp_path: Path) -> None:
    """Also where nobody says CUDA_VISIBLE_DEVICES: the job of another may be given the GPU in a moment."""
    said = objection("0", {"PATH": ""}, str, machine(tmp_path, process="slurmd"))

    assert "Slurm gives out the GPUs here (slurmd is running), and this is no job of its" == said


@pytest.mark.parametrize(
    ("gpu", "given", "said"),
    [
        ("", "2,3", ""),
        ("3", "2,3", ""),
        ("GPU-c", "2, 3", ""),
        ("2", "GPU-b,GPU-c", ""),
        ("0", "", ""),
        ("0", "2,3", "GPU 0 is none of those that the job 5 of Slurm was given: 2, 3"),
        ("GPU-x", "2,3", "GPU GPU-x is none of those that the job 5 of Slurm was given: 2, 3"),
    ],
)
def test_inside_of_a_job_its_own_gpus_are_free(tmp_path: Path, gpu: str, given: str, said: str) -> None:
    uuids = {"0": "GPU-a", "2": "GPU-b", "3": "GPU-c"}
    environment = INSIDE | {"CUDA_VISIBLE_DEVICES": given}
    found = objection(
        gpu,
        environment,
        lambda each: uuids.get(each, each if each in uuids.values() else ""),
        machine(tmp_path, process="slurmd"),
    )

    assert said == found
