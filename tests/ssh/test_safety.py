"""What SECURITY.md promises of a host that is scanned, seen from the host."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.errors import Unreachable
from recon.facts.secrets import HIDDEN
from tests.pipeline.engines import WALK
from tests.pipeline.test_hosts import COMPILED, environment
from tests.ssh.client import Client, home
from tests.ssh.server import Server, Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")

TRACED = (
    "execve,open,openat,openat2,creat,truncate,ftruncate,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,"
    "link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmod,fchmodat,chown,lchown,fchownat,utimensat,setxattr,mount"
)
HARMLESS = re.compile(r'openat?\((?:AT_FDCWD, )?"/dev/(?:null|tty)", ')
WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE")


def traced(yard: Yard, log: Path, home_folder: Path) -> Server:
    """A server that notes what every process of its sessions asks of the kernel."""
    shell = f'exec strace -f -qq -s 4096 -e signal=none -e trace={TRACED} -o {log} sh -c "$SSH_ORIGINAL_COMMAND"'
    return yard.server(shell=shell, environment=home(home_folder))


def calls(log: Path) -> Iterator[str]:
    """The system calls, without the process that made each."""
    for line in log.read_text(errors="replace").splitlines():
        yield line.partition(" ")[2].strip()


@pytest.mark.system("strace")
def test_nothing_on_the_host_is_opened_for_writing_and_no_python_or_sftp_is_started(
    yard: Yard, client: Client, tmp_path: Path
) -> None:
    """First scan and second, sources and libraries: files are only read, but for /dev/null."""
    environment(tmp_path / "home", COMPILED, {"vllm/walk.py": WALK})
    log = tmp_path / "trace"
    traced(yard, log, tmp_path / "home")
    found, changing, started = [], [], []
    for _ in range(2):  # a session of strace begins its log anew: one for each script
        run = client.scan("gpu1")
        found.append(len(run.installs))
        opened = [call for call in calls(log) if call.startswith("open") and " = -1 " not in call]
        changing += [call for call in opened if WRITING.search(call) and not HARMLESS.match(call)]
        changing += [call for call in calls(log) if not call.startswith(("open", "execve", "+++", "---", "<..."))]
        started += re.findall(r'execve\("([^"]+)"', log.read_text(errors="replace"))

    assert [2, 2] == found
    assert [] == changing
    assert started
    assert [] == [name for name in started if re.search(r"python|sftp|git$|pip|nvcc", name)]


@pytest.mark.system("strace")
def test_the_trace_would_show_a_write(yard: Yard, client: Client, tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    log, file = tmp_path / "trace", tmp_path / "written"
    traced(yard, log, tmp_path)
    with client.shell() as shell:
        shell.run(f"echo x > {file}; rm {file}")
    seen = [call for call in calls(log) if str(file) in call and not call.startswith("execve")]

    assert [True, True] == [bool(WRITING.search(seen[0])), seen[1].startswith("unlink")]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_scan_that_is_stopped_leaves_no_process_on_the_host(
    yard: Yard, client: Client, tmp_path: Path, how: signal.Signals, transport: str
) -> None:
    """In the middle of a transfer, by Ctrl-C or by the kernel."""
    site = environment(tmp_path / "home")
    (site / "vllm/large.py").write_text(f"# {os.urandom(1_500_000).hex()}\n")
    server = yard.server(environment=home(tmp_path / "home"))
    slow = f"Host gpu1\n  ProxyCommand {yard.link(bytes_per_s=30_000)}\n"
    process = client.recon("--host", "gpu1", "--batch", "--transport", transport, before=slow)
    end = time.monotonic() + 40
    while not any("gzip" in words for words in server.left().values()) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(how)
    process.communicate(timeout=15)

    assert {} == server.left_after(10)
    assert (130 if how is signal.SIGINT else -9) == process.returncode


def test_a_cut_link_leaves_no_process_on_the_host(yard: Yard, client: Client, tmp_path: Path) -> None:
    """Both ends are held open and nothing passes any more."""
    site = environment(tmp_path / "home")
    (site / "vllm/large.py").write_text(f"# {os.urandom(1_500_000).hex()}\n")
    server = yard.server(environment=home(tmp_path / "home"))
    link = yard.link(cut_after_bytes=120_000)
    lines = f"Host gpu1\n  ProxyCommand {link}\n  ServerAliveInterval 1\n  ServerAliveCountMax 3\n"
    with pytest.raises(Unreachable):
        client.scan("gpu1", before=lines)

    assert {} == server.left_after(10)


SECRETS = [f"{kind}{number:02d}Zq9Wx7Ty5Rv3" for number, kind in enumerate(["S3cr3t"] * 27)]


def planted(tmp_path: Path) -> dict[str, str]:
    """Secrets where hosts have them, and where a user may lay links to them; gives the variables of sessions."""
    secret = iter(SECRETS)
    account = tmp_path / "home"
    checkout = tmp_path / "src"
    one, two = next(secret), next(secret)
    direct = {
        "url": f"https://me:{one}@git.example/vllm?token={two}",
        "vcs_info": {"vcs": "git", "commit_id": "1" * 40},
    }
    step = "        node = children[node][token]\n"
    before = f'        api_key = "{next(secret)}"\n        url = "https://bot:{next(secret)}@models.example/x"\n'
    after = f'        model = load("hf_{next(secret)}")\n        password = "{next(secret)}"\n'
    walk = WALK.replace(step, f"{before}{step}{after}")
    refusing = (
        "def check(config):\n    if config.spec == 'tree':\n"
        f"        raise ValueError('no trees: token=\"{next(secret)}\"')\n"
    )
    site = environment(
        account,
        {
            "vllm-9.8.7.dist-info/direct_url.json": json.dumps(direct),
            "vllm/walk.py": walk,
            "vllm/check.py": refusing,
            "vllm/.env": f"OPENAI_API_KEY=sk-{next(secret)}\n",
            "vllm/pip.conf": f"[global]\nindex-url = https://u:{next(secret)}@index.example/simple\n",
        },
    )
    configuration = {
        ".netrc": f"machine git.example login me password {next(secret)}\n",
        ".config/pip/pip.conf": f"[global]\nindex-url = https://u:{next(secret)}@index.example/simple\n",
        ".git-credentials": f"https://me:{next(secret)}@git.example\n",
        ".cache/huggingface/token": f"hf_{next(secret)}\n",
        ".aws/credentials": f"[default]\naws_secret_access_key = {next(secret)}\n",
    }
    for name, text in configuration.items():
        (account / name).parent.mkdir(parents=True, exist_ok=True)
        (account / name).write_text(text)
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git/config").write_text(f'[remote "origin"]\n\turl = https://me:{next(secret)}@git.example/x\n')
    (site / "z.pth").write_text(f"# https://me:{next(secret)}@index.example\n{checkout}\n")
    (site / "a.pth").write_text(f"password={next(secret)}\n")
    (site / "b.egg-link").write_text(f"token {next(secret)}\n")
    for link, text in {
        "evil.pth": "-----BEGIN OPENSSH PRIVATE KEY-----\n@\n-----END OPENSSH PRIVATE KEY-----\n",
        "vllm-9.8.7.dist-info/INSTALLER": "@\n",
        "sglang-1.0.dist-info/METADATA": "Name: @\nVersion: 1\n",
        "sglang-2.0.dist-info/METADATA": "Name: sglang\nVersion: @\n",
        "__editable___sglang_1_0_finder.py": "MAPPING = {'sglang': '/@'}\n",
    }.items():
        other = tmp_path / "others" / link.replace("/", "-").removesuffix(".pth").removesuffix(".py")
        other.parent.mkdir(exist_ok=True)
        other.write_text(text.replace("@", next(secret)))
        (site / link).parent.mkdir(exist_ok=True)
        (site / link).unlink(missing_ok=True)
        (site / link).symlink_to(other)
    (site / "__editable__.sglang-1.0.pth").write_text("import __editable___sglang_1_0_finder\n")
    variables = {"HF_TOKEN": f"hf_{next(secret)}", "OPENAI_API_KEY": f"sk-{next(secret)}"}
    noise = {"VLLM_API_KEY": next(secret), "PIP_INDEX_URL": f"https://u:{next(secret)}@index.example/simple"}
    assert next(secret, None) is None, "all are planted"
    return {**home(account), **variables, **noise}


def test_no_secret_of_a_host_is_in_any_output_run_audit_file_or_log(yard: Yard, client: Client, tmp_path: Path) -> None:
    """Many are planted; the cache alone keeps what they stand in, for its owner alone."""
    yard.server(environment=planted(tmp_path))
    names = ("csv", "html", "json", "markdown", "sarif", "text", "tsv")
    outputs = [word for name in names for word in ("-o", f"{name}={tmp_path}/out.{name}")]
    process = client.recon("--host", "gpu1", "--batch", *outputs)
    printed = "".join(process.communicate(timeout=90))
    written = [*(tmp_path / "client/state").rglob("*.json*"), *tmp_path.glob("out.*")]
    texts = {str(path): path.read_text(errors="replace") for path in written} | {"printed": printed}

    assert 4 == texts[f"{tmp_path}/out.json"].count(HIDDEN), "lines with secrets in them are cited"
    assert 2 + len(names) == len(written)
    assert {} == {name: kept for name, text in texts.items() if (kept := [one for one in SECRETS if one in text])}
    assert ({0o600}, {0o700}) == modes(tmp_path / "client")


def modes(folder: Path) -> tuple[set[int], set[int]]:
    """Of the files below a folder, and of the folders."""
    found = [(path.is_dir(), path.stat().st_mode & 0o777) for path in folder.rglob("*")]
    return {mode for is_folder, mode in found if not is_folder}, {mode for is_folder, mode in found if is_folder}
