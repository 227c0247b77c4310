"""What machines lack or hold: few tools, no room, odd names, several installs; and several hosts at once."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recon.errors import HostBusy
from recon.records.verdict import Standing
from tests.pipeline.engines import VLLM, tree
from tests.pipeline.test_hosts import environment
from tests.ssh.client import Client, home
from tests.ssh.server import Yard, free_port

pytestmark = [pytest.mark.system("sshd", "ssh", "ssh-keygen"), pytest.mark.matrix, pytest.mark.slow]


TOOLS = """
sh ls cat head tail tr sed awk find tar gzip dd od wc stat sort uniq cut grep readlink dirname basename date
sha256sum md5sum cksum uname id printf env sleep timeout setsid nice renice true false test xargs nproc
"""


@pytest.mark.system("busybox")
def test_busybox_and_nothing_else_is_enough(yard: Yard, client: Client, tmp_path: Path) -> None:
    """Without Python, GNU find, timeout that knows -k, ionice or taskset of util-linux."""
    tools = tmp_path / "tools"
    tools.mkdir()
    busybox = shutil.which("busybox")
    for name in re.findall(r"\w+", TOOLS):
        (tools / name).symlink_to(str(busybox))
    environment(tmp_path / "home")
    variables = {**home(tmp_path / "home"), "PATH": str(tools)}
    yard.server(shell=f'exec {busybox} sh -c "$SSH_ORIGINAL_COMMAND"', environment=variables)
    (install,) = client.scan("gpu1").installs
    yard.server("gpu2", environment=home(tmp_path / "home"))
    (same,) = client.scan("gpu2").installs

    assert same.source_digest == install.source_digest
    assert same.verdicts == install.verdicts


@pytest.mark.system("unshare")
def test_a_read_only_disk_without_room_is_no_obstacle(yard: Yard, client: Client, tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make namespaces")
    environment(tmp_path / "home")
    inside = "mount -t tmpfs -o ro,size=4k none /var/tmp && mount -t tmpfs -o ro,size=4k none /dev/shm"
    shell = f"""exec unshare -rm sh -c '{inside} && exec sh -c "$SSH_ORIGINAL_COMMAND"'"""
    yard.server(shell=shell, environment={**home(tmp_path / "home"), "TMPDIR": "/var/tmp"})

    assert ["9.8.7"] == [each.version for each in client.scan("gpu1").installs]


def test_names_that_are_no_text_are_told_and_take_nothing_with_them(yard: Yard, client: Client, tmp_path: Path) -> None:
    site = environment(tmp_path / "home")
    for name in ("\udcff.py", "a\nb.py", "a b.py", "-rf.py", "é.py"):
        (site / "vllm" / name).write_text("x = 1\n")
    yard.server(environment=home(tmp_path / "home"))
    (install,) = client.scan("gpu1").installs

    assert install.verdicts
    assert ["9.8.7"] == [install.version]


def test_of_two_installs_the_one_that_python_imports_is_marked(yard: Yard, client: Client, tmp_path: Path) -> None:
    site = environment(tmp_path / "home")
    checkout = tree(tmp_path / "src", VLLM)
    (site / "z.pth").write_text(f"{checkout}\n")
    yard.server(environment=home(tmp_path / "home"))
    notes = {each.location: each.provenance.note for each in client.scan("gpu1").installs}

    assert notes[str(site)].startswith("imported first")
    assert notes[str(checkout)].startswith("shadowed by")


def test_a_busy_host_is_left_alone_on_request(yard: Yard, client: Client) -> None:
    yard.server()

    with pytest.raises(HostBusy):
        client.scan("gpu1", max_load=1e-9)


def test_a_host_that_is_down_costs_the_others_nothing(yard: Yard, client: Client, tmp_path: Path) -> None:
    """Exit code 3, and what the others gave."""
    environment(tmp_path / "home")
    yard.server(environment=home(tmp_path / "home"))
    process = client.recon("--host", "gpu1", "--host", f"127.0.0.1:{free_port()}", "--batch", "--json")
    out, _ = process.communicate(timeout=60)
    run = json.loads(out)

    assert 3 == process.returncode
    assert ["gpu1"] == [each["host"] for each in run["installs"]]
    assert ["unreachable"] == [each["what"] for each in run["unknowns"]]


def test_hosts_that_are_all_down_hide_no_earlier_run(yard: Yard, client: Client, tmp_path: Path) -> None:
    """What failed is told and saved; what is shown later is the last run that found something."""
    environment(tmp_path / "home")
    server = yard.server(environment=home(tmp_path / "home"))
    up = client.recon("--host", "gpu1", "--batch", "--json")
    up.communicate(timeout=60)
    server.stop()
    down = client.recon("--host", "gpu1", "--host", f"127.0.0.1:{free_port()}", "--batch", "--json")
    out, _ = down.communicate(timeout=60)
    show = client.recon("accept.tree.greedy", "--json", command="show")
    shown, _ = show.communicate(timeout=60)

    assert (0, 3, 0) == (up.returncode, down.returncode, show.returncode)
    assert ["unreachable"] * 2 == [each["what"] for each in json.loads(out)["unknowns"]]
    assert 2 == len(list((client.folder / "state" / "runs").iterdir()))
    assert ["gpu1"] == [each["host"] for each in json.loads(shown)]


def test_a_walk_that_is_killed_makes_nothing_absent(yard: Yard, client: Client, tmp_path: Path) -> None:
    """The find of the host dies half way: what it did not list may hold anything."""
    environment(tmp_path / "home")
    tools = tmp_path / "tools"
    tools.mkdir()
    find = shutil.which("find")
    dying = f'case $* in *//f*) {find} "$@" | head -c 300; kill -9 $$;; esac'
    (tools / "find").write_text(f'#!/bin/sh\n{dying}\nexec {find} "$@"\n')
    (tools / "find").chmod(0o755)
    variables = home(tmp_path / "home")
    yard.server(environment={**variables, "PATH": f"{tools}:/usr/bin:/bin"})
    yard.server("gpu2", environment=variables)
    (cut,) = client.scan("gpu1").installs
    (whole,) = client.scan("gpu2").installs

    assert Standing.ABSENT in {each.standing for each in whole.verdicts}
    assert Standing.ABSENT not in {each.standing for each in cut.verdicts}
    assert "status 137" in cut.verdicts[0].searched.unread[0].why


def test_a_host_that_fails_alone_says_so_in_one_line(yard: Yard, client: Client) -> None:
    process = client.recon("--host", f"127.0.0.1:{free_port()}", "--batch", "--json")
    out, err = process.communicate(timeout=60)

    assert 3 == process.returncode
    assert "unreachable" == json.loads(out)["error"]["kind"]
    assert ["error", "hint"] == [line.partition(":")[0] for line in err.splitlines()[-2:]]


def test_the_plan_is_printed_without_connecting(yard: Yard, client: Client) -> None:
    server = yard.server()
    process = client.recon("--host", "gpu1", "--plan", "--json")
    plan = json.loads(process.communicate(timeout=60)[0])

    assert 0 == process.returncode
    assert 0 == server.connections
    assert ("exec /bin/sh -s", 32) == (plan["line"], len(plan["digest"]))
    assert len(plan["steps"]) >= 8
