"""The effective configuration, against what OpenSSH itself makes of the same files."""

import getpass
import os
import pwd
import re
import shlex
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recon.errors import ClientConfig
from recon.hosts.effective import effective, route
from recon.hosts.target import parse
from recon.hosts.tokens import Tokens, here

pytestmark = pytest.mark.system("ssh")

HOME = pwd.getpwuid(os.getuid()).pw_dir
ME = getpass.getuser()
LOCAL = socket.gethostname()


@dataclass(frozen=True)
class Case:
    """A configuration, what is asked, and what ssh makes of it."""

    config: str
    typed: str = "gpu07"
    reached: tuple[str, int, str] = ("gpu07", 22, ME)
    jumps: tuple[str, ...] = ()
    identities: tuple[str, ...] | None = None
    certificates: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    other: Mapping[str, object] = field(default_factory=dict)


CASES = {
    "nothing": Case(""),
    "a block": Case("Host gpu07\n HostName 10.0.0.7\n Port 2222\n User bob", reached=("10.0.0.7", 2222, "bob")),
    "the first value wins": Case("Host gpu*\n User a\nHost gpu07\n User b\n Port 3", reached=("gpu07", 3, "a")),
    "what is typed wins": Case("Host *\n User a\n Port 1", "me@gpu07:2", ("gpu07", 2, "me")),
    "include": Case("Include more\nHost *\n User late", reached=("gpu07", 22, "early"), files={"more": "User early"}),
    "include in a block": Case(
        "Host other\n Include more\nHost gpu07\n Port 9", reached=("gpu07", 9, ME), files={"more": "User wrong"}
    ),
    "match host": Case("Match host *07 user bob\n Port 7\nMatch host *08\n Port 8", "bob@gpu07", ("gpu07", 7, "bob")),
    "match originalhost": Case("Match originalhost gpu07\n HostName X\nMatch host x\n Port 5", reached=("x", 5, ME)),
    "match exec": Case(
        'Match exec "test %n = gpu07"\n User yes\nMatch exec "false"\n User no\n Port 4', reached=("gpu07", 22, "yes")
    ),
    "match final": Case("Match final all\n User last\nHost *\n Port 6", reached=("gpu07", 6, "last")),
    "match canonical, of an address": Case(
        "Host gpu07\n HostName 127.0.0.1\n CanonicalizeHostname always\n CanonicalDomains x.invalid\n"
        "Match canonical\n User canon\nMatch final host 127.0.0.1\n Port 77",
        reached=("127.0.0.1", 77, "canon"),
    ),
    "negation": Case("Host * !gpu07\n User wrong\nHost !gpu08 gpu*\n User right", reached=("gpu07", 22, "right")),
    "mixed case": Case("Host gpu07\n User lower\nHost GPU07\n User upper", "GPU07", ("gpu07", 22, "upper")),
    "keywords in any case, with equal signs": Case("HOST=gpu07\nuser = bob\nPORT=5", reached=("gpu07", 5, "bob")),
    "a comment after a value": Case("Host *\n User bob # trailing\n Port 5 #x", reached=("gpu07", 5, "bob")),
    "no jump above a wildcard": Case("Host gpu07\n ProxyJump none\nHost *\n ProxyJump bastion"),
    "a jump": Case("Host *\n ProxyJump me@bastion:2222", jumps=("me@bastion:2222",)),
    "several jumps": Case("Host *\n ProxyJump a,b@c,[::1]:5", jumps=("a", "b@c", "[::1]:5")),
    "a jump with tokens": Case("Host *\n ProxyJump %n-gate", "GPU07", ("gpu07", 22, ME), ("GPU07-gate",)),
    "a command above a jump": Case(
        "Host *\n ProxyCommand nc %h %p %r %n %%\n ProxyJump no",
        "GPU07",
        ("gpu07", 22, ME),
        other={"proxy_command": f"nc gpu07 22 {ME} GPU07 %"},
    ),
    "a command of none": Case("Host *\n ProxyCommand none\nHost *\n ProxyCommand nc", other={"proxy_command": ""}),
    "a name with a token, and a key by that name": Case(
        "Host *\n HostName %h.corp\n IdentityFile ~/keys/%h_%r\n CertificateFile ~/%n-%p-cert.pub",
        "bob@GPU07:99",
        ("gpu07.corp", 99, "bob"),
        identities=(f"{HOME}/keys/gpu07.corp_bob",),
        certificates=(f"{HOME}/GPU07-99-cert.pub",),
    ),
    "every token of a path": Case(
        "Host *\n IdentityFile %d/%u/%r/%l/%L/%i/%p/%n/%h/%k/%%h\n HostKeyAlias Alias",
        "bob@GPU07",
        ("gpu07", 22, "bob"),
        identities=(f"{HOME}/{ME}/bob/{LOCAL}/{LOCAL.partition('.')[0]}/{os.getuid()}/22/GPU07/gpu07/alias/%h",),
        other={"host_key_alias": "alias", "known_as": "alias", "known_port": 22},
    ),
    "a variable": Case(
        "Host *\n IdentityFile /k/${RECON_TEST_KEYS}/%n", identities=("/k/of %h me/gpu07",)
    ),  # what was put in is not looked at again
    "a path with a blank": Case('Host *\n IdentityFile "~/my keys/%h"', identities=(f"{HOME}/my keys/gpu07",)),
    "somebody's home": Case(f"Host *\n IdentityFile ~{ME}/k", identities=(f"{HOME}/k",)),
    "several keys in order": Case("IdentityFile /k/b\nHost *\n IdentityFile /k/a", identities=("/k/b", "/k/a")),
    "no key": Case("Host *\n IdentityFile none", identities=()),
    "a key and an agent only": Case(
        "Host *\n IdentitiesOnly yes\n IdentityFile /k/x.pub\n IdentityAgent ~/a_%r.sock",
        identities=("/k/x.pub",),
        other={"identities_only": True, "identity_agent": Path(f"{HOME}/a_{ME}.sock")},
    ),
    "no agent": Case("Host *\n IdentityAgent none", other={"identity_agent": None}),
    "the agent of the session": Case(
        "Host *\n IdentityAgent SSH_AUTH_SOCK", other={"identity_agent": Path("/run/session agent")}
    ),
    "an agent by a variable": Case(
        "Host *\n IdentityAgent $RECON_TEST_SOCKET", other={"identity_agent": Path("/run/other")}
    ),
    "where keys of hosts stand": Case(
        'Host *\n UserKnownHostsFile ~/.ssh/kh_%h "/k/a b"\n GlobalKnownHostsFile /k/g\n HashKnownHosts yes',
        other={
            "user_known_hosts_files": (Path(f"{HOME}/.ssh/kh_gpu07"), Path("/k/a b")),
            "global_known_hosts_files": (Path("/k/g"),),
            "hash_known_hosts": True,
        },
    ),
    "nowhere": Case("Host *\n UserKnownHostsFile none", other={"user_known_hosts_files": ()}),
    "revoked keys": Case("Host *\n RevokedHostKeys ~/revoked", other={"revoked_host_keys": Path(f"{HOME}/revoked")}),
    "patience": Case(
        "Host *\n ConnectTimeout 7\n ServerAliveInterval 5\n ServerAliveCountMax 2",
        other={"connect_timeout_s": 7.0, "server_alive_interval_s": 5.0, "server_alive_count_max": 2},
    ),
    "no patience said": Case("", other={"connect_timeout_s": None, "server_alive_count_max": 3}),
    "algorithms": Case(
        "Host *\n HostKeyAlgorithms ssh-ed25519\n PubkeyAcceptedAlgorithms rsa-sha2-256\n"
        " CASignatureAlgorithms ssh-ed25519",
        other={
            "host_key_algorithms": ("ssh-ed25519",),
            "pubkey_accepted_algorithms": ("rsa-sha2-256",),
            "ca_signature_algorithms": ("ssh-ed25519",),
        },
    ),
    "an address in brackets": Case("", "me@[::1]:2222", ("::1", 2222, "me")),
    "an address with a zone": Case("", "fe80::1%eth0", ("fe80::1%eth0", 22, ME)),
}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a configuration may be written; variables that configurations mention are set."""
    monkeypatch.setenv("RECON_TEST_KEYS", "of %h me")
    monkeypatch.setenv("RECON_TEST_SOCKET", "/run/other")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/session agent")
    return tmp_path / "config"


def write(path: Path, case: Case) -> None:
    """Put a configuration and what it includes in place."""
    for name, text in case.files.items():
        (path.parent / name).write_text(text + "\n")
    text = re.sub(r"Include (\w+)", lambda match: f'Include "{path.parent / match[1]}"', case.config)
    path.write_text(text + "\n")


def loaded_by_ssh(config: Path, typed: str) -> tuple[str, ...]:
    """The identity files that ssh itself opens, with the end of a connection to nowhere as its proof.

    `ssh -G` prints them as they were written, so a connection is begun: through a command that hangs up at once.
    """
    target = parse(typed)
    options = ["-F", str(config), "-o", "ProxyCommand=cat /dev/null", "-o", "CertificateFile=none"]
    words = ["ssh", "-v", "-T", *options, *(["-l", target.user] if target.user else [])]
    words += ["-p", str(target.port)] if target.port else []
    ended = subprocess.run(
        [*words, "--", target.host], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20
    )
    found = re.findall(r"^debug1: identity file (.*) type -?\d+", ended.stderr, re.MULTILINE)
    return tuple(name for name in found if not name.endswith("-cert"))


@pytest.mark.parametrize("name", CASES)
def test_the_configuration_is_what_ssh_makes_of_it(name: str, asked: Path) -> None:
    """Host, port, user, jumps, keys: written here by hand, from the manual."""
    case = CASES[name]
    write(asked, case)
    found = effective(parse(case.typed), config=asked)

    assert case.reached == (found.hostname, found.port, found.user)
    assert case.jumps == tuple(each.typed for each in found.proxy_jump)
    assert case.certificates == tuple(map(str, found.certificate_files))
    assert case.identities is None or case.identities == tuple(map(str, found.identity_files))
    assert dict(case.other) == {key: getattr(found, key) for key in case.other}
    assert ((), ()) == (found.beyond_paramiko, found.notes)


@pytest.mark.parametrize("name", CASES)
def test_ssh_opens_the_same_identity_files(name: str, asked: Path) -> None:
    """Names of identity files are expanded here, so ssh itself is the witness."""
    case = CASES[name]
    write(asked, case)
    found = effective(parse(case.typed), config=asked)

    assert loaded_by_ssh(asked, case.typed) == tuple(map(str, found.identity_files))


@pytest.mark.parametrize("criterion", ["localnetwork 9.8.7.6/32", "tagged other", "version OpenSSH_1.*"])
def test_a_criterion_that_not_every_ssh_knows_is_never_taken_for_true(criterion: str, asked: Path) -> None:
    """An ssh that knows it says that it does not match; one that does not names the line, and nothing is reached."""
    asked.write_text(f"Match {criterion}\n ProxyJump bad\n")
    words = ["ssh", "-G", "-F", str(asked), "--", "gpu07"]
    if subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0:
        assert () == effective(parse("gpu07"), config=asked).proxy_jump
        return
    with pytest.raises(ClientConfig) as caught:
        effective(parse("gpu07"), config=asked)

    assert f"{asked} line 1" in caught.value.message
    assert "\n" not in caught.value.message


def test_a_bad_line_is_named_and_nothing_is_guessed(asked: Path) -> None:
    """One line, with the file and the number."""
    asked.write_text("Host *\n Bogus yes\n")
    with pytest.raises(ClientConfig, match=rf"gpu07: ssh refuses .*{re.escape(str(asked))}: line 2: Bad .*bogus"):
        effective(parse("gpu07"), config=asked)


def test_a_missing_configuration_is_an_error(tmp_path: Path) -> None:
    """A file that was named must be there."""
    with pytest.raises(ClientConfig, match="no-such"):
        effective(parse("gpu07"), config=tmp_path / "no-such")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("IdentityFile /k/%q", "no token %q"),
        ("IdentityFile /k/${RECON_TEST_UNSET}", "RECON_TEST_UNSET is not set"),
        ("IdentityFile ~no-such-user-here/k", "no user no-such-user-here"),
        ("CertificateFile /k/%", "no token %"),
    ],
)
def test_what_ssh_would_die_of_is_said(line: str, why: str, asked: Path) -> None:
    """A path that cannot be made up is not skipped in silence."""
    asked.write_text(f"Host *\n {line}\n")
    with pytest.raises(ClientConfig, match=re.escape(why)):
        effective(parse("gpu07"), config=asked)


def test_an_ssh_that_hangs_is_given_up(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `Match exec` may wait for ever; what it started is ended too."""
    monkeypatch.setattr("recon.hosts.effective._DEADLINE_S", 0.5)
    asked.write_text('Match exec "sleep 60"\n User x\n')
    with pytest.raises(ClientConfig, match="no answer within") as caught:
        effective(parse("gpu07"), config=asked)

    assert "Match exec" in caught.value.hint


def test_without_ssh_a_minimal_configuration_says_so() -> None:
    """Keys and known hosts where they always are; a configuration that was asked for cannot be read."""
    found = effective(parse("GPU07"), program="/no-such-ssh")

    assert ("gpu07", 22, ME) == (found.hostname, found.port, found.user)
    assert Path(HOME, ".ssh/id_ed25519") in found.identity_files
    assert Path(HOME, ".ssh/known_hosts") in found.user_known_hosts_files
    assert ("there is no ssh program, so ~/.ssh/config was not read",) == found.notes
    with pytest.raises(ClientConfig, match="without an ssh program"):
        effective(parse("gpu07"), program="/no-such-ssh", config=Path("/etc/ssh/ssh_config"))


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("PKCS11Provider /lib/token.so", "PKCS#11"),
        ("KnownHostsCommand /bin/keys %H", "host keys from a command"),
        ("BindInterface lo", "bound to an interface"),
        ("ProxyUseFdpass yes\n ProxyCommand nc", "handed over"),
        ("PubkeyAuthentication no\n GSSAPIAuthentication yes", "other than keys (gssapi-with-mic)"),
        ("PreferredAuthentications hostbased\n HostbasedAuthentication yes", "other than keys (hostbased)"),
        ("PubkeyAuthentication no", "other than keys (pubkeyauthentication no)"),
        ("KexAlgorithms sntrup761x25519-sha512@openssh.com", "kexalgorithms sntrup761"),
        ("Ciphers chacha20-poly1305@openssh.com", "ciphers chacha20"),
        ("HostKeyAlgorithms sk-ssh-ed25519@openssh.com", "hostkeyalgorithms sk-"),
    ],
)
def test_what_paramiko_cannot_do_is_known_before(lines: str, reason: str, asked: Path) -> None:
    """The system's ssh then carries the connection, and the run says why."""
    asked.write_text(f"Host *\n {lines}\n")
    (found,) = effective(parse("gpu07"), config=asked).beyond_paramiko

    assert reason in found


def test_a_binary_list_of_revoked_keys_is_for_ssh(tmp_path: Path, asked: Path) -> None:
    """Its format is ssh-keygen's own."""
    revoked = tmp_path / "revoked"
    revoked.write_bytes(b"SSHKRL\n\0rest")
    asked.write_text(f"Host *\n RevokedHostKeys {revoked}\n")

    assert (f"a binary list of revoked keys ({revoked})",) == effective(parse("gpu07"), config=asked).beyond_paramiko


def test_settings_that_would_be_less_strict_are_not_followed_and_named(asked: Path) -> None:
    """A configuration cannot make recon trust a stranger."""
    asked.write_text(
        "Host *\n StrictHostKeyChecking no\n NoHostAuthenticationForLocalhost yes\n VerifyHostKeyDNS yes\n"
    )
    found = effective(parse("gpu07"), config=asked)

    assert "no" == found.strict_host_key_checking
    assert {"stricthostkeychecking", "nohostauthenticationforlocalhost", "verifyhostkeydns"} == {
        note.partition(" ")[0] for note in found.notes
    }


def test_the_way_goes_from_jump_to_jump_each_with_its_own_configuration(asked: Path) -> None:
    """The first jump follows its own configuration, jumps included; those after it are reached through those before."""
    asked.write_text(
        "Host gpu07\n ProxyJump b,me@c:5\n"
        "Host b\n HostName b.corp\n ProxyJump gate\n User bee\n"
        "Host c\n ProxyJump ignored\n ProxyCommand ignored\n IdentityFile /k/%h\n"
        "Host gate\n ProxyCommand nc %h %p\n"
    )
    way = route(parse("gpu07"), config=asked)

    assert [("gate", 22, ME), ("b.corp", 22, "bee"), ("c", 5, "me"), ("gpu07", 22, ME)] == [
        (hop.hostname, hop.port, hop.user) for hop in way
    ]
    assert ["nc gate 22", "", "", ""] == [hop.proxy_command for hop in way]
    assert (Path("/k/c"),) == way[2].identity_files
    assert [(), ("gate",), ("b",), ("b", "me@c:5")] == [tuple(each.typed for each in hop.proxy_jump) for hop in way]


def test_a_ring_of_jumps_has_an_end(asked: Path) -> None:
    """Two hosts that name each other."""
    asked.write_text("Host a\n ProxyJump b\nHost b\n ProxyJump a\n")
    with pytest.raises(ClientConfig, match="more than 8 jumps"):
        route(parse("a"), config=asked)


def test_a_host_that_jumps_through_itself_is_refused_as_ssh_does(asked: Path) -> None:
    """ssh finds that itself."""
    asked.write_text("Host *\n ProxyJump gate\n")
    with pytest.raises(ClientConfig, match="jumphost loop via gate"):
        route(parse("gpu07"), config=asked)


TEXT = st.text(st.sampled_from("aZ0-_./~@+ ä"), max_size=6)
PATTERN = st.lists(
    st.one_of(TEXT, st.sampled_from(["%%", "%h", "%r", "%u", "%d", "%l", "%L", "%n", "%p", "%i", "%k", "%C"])),
    min_size=1,
).map(lambda parts: "/" + "".join(parts).strip())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pattern=PATTERN)
def test_tokens_are_expanded_as_ssh_expands_them(pattern: str, tmp_path: Path) -> None:
    """ssh prints one file name expanded, the agent's, and so speaks for all."""
    config = tmp_path / "config"
    config.write_text(f'Host *\n HostName %h.corp\n Port 5\n User bob\n HostKeyAlias Ali\n IdentityAgent "{pattern}"\n')
    words = shlex.split(f"ssh -G -T -F {shlex.quote(str(config))} -- GPU07")
    printed = subprocess.run(words, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    tokens = Tokens(here(), "GPU07", "gpu07.corp", 5, "bob", "", "ali")
    (said,) = [line.partition(" ")[2] for line in printed.splitlines() if line.startswith("identityagent ")]

    assert said == tokens.path(pattern)
