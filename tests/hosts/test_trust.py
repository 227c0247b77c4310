"""Whom to trust, as far as no server is needed: what is said, what is added, what is never touched."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from recon.errors import Exit, HostKey, HostKeyChanged, HostKeyRevoked, HostKeyUnknown, Unreadable
from recon.hosts.trust import KnownHosts, append
from recon.hosts.wire import fingerprint


def key(seed: int) -> str:
    """An ed25519 public key as a line has it, always the same for a seed."""
    private = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def blob(seed: int) -> bytes:
    """The same as bytes."""
    return base64.b64decode(key(seed).split()[1])


RSA = "ssh-rsa " + base64.b64encode(b"\0\0\0\x07ssh-rsa\0\0\0\x03\x01\0\x01\0\0\0\x05\0\xff\xff\xff\xff").decode()


def known(tmp_path: Path, text: str) -> KnownHosts:
    """What a file with this text says."""
    path = tmp_path / "known_hosts"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return KnownHosts.from_files([path])


def test_a_known_key_is_trusted_by_its_line(tmp_path: Path) -> None:
    """The line is handed back, so that a run can say why it trusted."""
    line = known(tmp_path, f"# first\n\ngpu07 {key(1)}\n").check("GPU07", 22, blob(1))

    assert f"{tmp_path}/known_hosts:3" == line.place


def test_an_unknown_host_is_refused_with_its_key(tmp_path: Path) -> None:
    """The fingerprint is what its administrator can be asked about."""
    with pytest.raises(HostKeyUnknown) as caught:
        known(tmp_path, "").check("gpu07", 2222, blob(1))

    assert f"[gpu07]:2222 is not a known host; its key is ssh-ed25519 {fingerprint(blob(1))}" == caught.value.message
    assert "--accept-new" in caught.value.hint
    assert ("host_key", "unknown", Exit.INCOMPLETE) == (caught.value.kind, caught.value.why, caught.value.exit)


def test_a_changed_key_names_the_line_that_it_contradicts(tmp_path: Path) -> None:
    """Both fingerprints, and what to do if the host is really new."""
    with pytest.raises(HostKeyChanged) as caught:
        known(tmp_path, f"gpu07 {RSA}\ngpu07 {key(2)}\n").check("gpu07", 22, blob(1))

    assert fingerprint(blob(1)) in caught.value.message
    assert f"{tmp_path}/known_hosts:2 has ssh-ed25519 {fingerprint(blob(2))}" in caught.value.hint
    assert caught.value.hint.endswith(f"remove the old key: ssh-keygen -f {tmp_path}/known_hosts -R gpu07")


def test_what_removes_a_changed_key_is_a_command_for_a_shell(tmp_path: Path) -> None:
    """With the file that has it, spaces and brackets quoted; ssh-keygen leaves lines with patterns as they are."""
    folder = tmp_path / "my keys"
    folder.mkdir()
    with pytest.raises(HostKeyChanged) as plain:
        known(folder, f"[gpu07]:2222 {key(2)}\n").check("gpu07", 2222, blob(1))
    with pytest.raises(HostKeyChanged) as pattern:
        known(folder, f"gpu* {key(2)}\n").check("gpu07", 22, blob(1))

    assert plain.value.hint.endswith(f": ssh-keygen -f '{folder}/known_hosts' -R '[gpu07]:2222'")
    assert pattern.value.hint.endswith(f"take the line out of {folder}/known_hosts; it speaks of gpu*")
    assert ("host_key", "changed") == (plain.value.kind, plain.value.why)


def test_a_key_of_another_type_makes_a_known_host_no_new_one(tmp_path: Path) -> None:
    """Whoever is in between could show a key of a type that nobody has seen yet."""
    hosts = known(tmp_path, f"gpu07 {RSA}\n")
    with pytest.raises(HostKeyChanged):
        hosts.check("gpu07", 22, blob(1))

    assert not hosts.is_new("gpu07", 22)
    assert hosts.is_new("gpu08", 22)


def test_a_revoked_key_is_named_with_the_line_that_says_so(tmp_path: Path) -> None:
    """However often it is known otherwise."""
    with pytest.raises(HostKeyRevoked) as caught:
        known(tmp_path, f"gpu07 {key(1)}\n@revoked gpu* {key(1)}\n").check("gpu07", 22, blob(1))

    assert "its key is revoked" in caught.value.message
    assert f"{tmp_path}/known_hosts:2" in caught.value.hint
    assert ("host_key", "revoked") == (caught.value.kind, caught.value.why)


def test_a_revocation_of_the_host_holds_on_every_port(tmp_path: Path) -> None:
    """Here we are stricter than ssh, which would look for `[gpu07]:2222` only."""
    text = f"[gpu07]:2222 {key(1)}\n@revoked gpu07 {key(1)}\n"
    with pytest.raises(HostKeyRevoked):
        known(tmp_path, text).check("gpu07", 2222, blob(1))


def test_lines_that_are_none_and_bytes_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    """One bad line does not cost the others."""
    text = f"\udcff\udcfe x y\ngpu07 ssh-ed25519 AAAA\n@odd * {key(1)}\n \tgpu07\t{key(1)} me@\udcff\r\n"
    hosts = known(tmp_path, text)

    assert 1 == len(hosts.lines)
    assert hosts.check("gpu07", 22, blob(1)).number == 4


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    """Other signs that Python takes for ends may stand in a comment, and what follows them is comment too."""
    hosts = known(tmp_path, "".join(f"gpu07 {key(1)} me{end}* {key(2)}\n" for end in "\x0b\x0c\x1c\x85\u2028\r"))

    assert {blob(1)} == {line.blob for line in hosts.lines}


def test_tabs_divide_as_blanks_do(tmp_path: Path) -> None:
    """Also after a marker."""
    hosts = known(tmp_path, f"\t@revoked\t \tgpu07\t{key(1).replace(' ', chr(9))}\tme\n")

    assert ["@revoked"] == [line.marker for line in hosts.lines]


def test_a_file_that_cannot_be_read_is_named_where_it_might_have_helped(tmp_path: Path) -> None:
    """A missing one is nothing; a folder in its place is something."""
    (tmp_path / "folder").mkdir()
    hosts = KnownHosts.from_files([tmp_path / "missing", tmp_path / "folder"])
    with pytest.raises(HostKeyUnknown) as caught:
        hosts.check("gpu07", 22, blob(1))

    assert f"Not read: {tmp_path}/folder: Is a directory." in caught.value.hint
    assert "missing" not in caught.value.hint


@pytest.mark.parametrize("shown", [b"", b"\0\0\0\x20ssh-ed25519-cert-v01@openssh.com", b"\xff" * 40])
def test_bytes_that_are_no_key_are_refused(shown: bytes, tmp_path: Path) -> None:
    """Whatever a server sends."""
    with pytest.raises(HostKey):
        known(tmp_path, f"gpu07 {key(1)}\n").check("gpu07", 22, shown)


def test_algorithms_by_which_a_host_is_known_come_first(tmp_path: Path) -> None:
    """A host has several keys and shows one: it should be one that can be checked."""
    algorithms = (
        "ssh-ed25519-cert-v01@openssh.com",
        "rsa-sha2-512-cert-v01@openssh.com",
        "ssh-ed25519",
        "rsa-sha2-512",
    )
    rsa = known(tmp_path, f"gpu07 {RSA}\n").preferred("gpu07", 22, algorithms)
    plain = known(tmp_path, f"gpu07 {key(1)}\n").preferred("gpu07", 2222, algorithms)
    certified = known(tmp_path, f"@cert-authority * {key(1)}\n").preferred("gpu07", 22, algorithms)

    assert ("rsa-sha2-512-cert-v01@openssh.com", "rsa-sha2-512") == rsa[:2]
    assert ("ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519") == plain[:2]
    assert algorithms == certified
    assert algorithms == known(tmp_path, "").preferred("gpu07", 22, algorithms)


def test_a_new_host_adds_a_line_and_then_is_known(tmp_path: Path) -> None:
    """In a folder and a file that are made for their owner alone."""
    path = tmp_path / "home" / ".ssh" / "known_hosts"
    line = append(path, "GPU07", 2222, blob(1))

    assert f"[gpu07]:2222 {key(1)}" == line
    assert f"{line}\n" == path.read_text()
    assert (0o700, 0o600) == (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777)
    assert KnownHosts.from_files([path]).check("gpu07", 2222, blob(1)).number == 1


@pytest.mark.parametrize("before", [b"", b"\n", b"x\n", b"x", b"# \xff\r\n*\ty z \n\n", b"a b c\r"])
def test_what_stood_in_the_file_stays_byte_for_byte(before: bytes, tmp_path: Path) -> None:
    """Comments, odd lines, their ends, and the file's mode; only a missing last newline is put in."""
    path = tmp_path / "known_hosts"
    path.write_bytes(before)
    path.chmod(0o644)
    append(path, "gpu07", 22, blob(1))
    end = b"" if before.endswith(b"\n") or not before else b"\n"

    assert before + end + f"gpu07 {key(1)}\n".encode() == path.read_bytes()
    assert 0o644 == path.stat().st_mode & 0o777
    assert [path] == list(tmp_path.iterdir())


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    """Some keep their files elsewhere."""
    real = tmp_path / "real"
    real.write_text("# mine\n")
    link = tmp_path / "known_hosts"
    link.symlink_to(real)
    append(link, "gpu07", 22, blob(1))

    assert link.is_symlink()
    assert f"# mine\ngpu07 {key(1)}\n" == real.read_text()


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A folder in its place, for example."""
    (tmp_path / "known_hosts").mkdir()
    with pytest.raises(Unreadable, match="cannot add a line"):
        append(tmp_path / "known_hosts", "gpu07", 22, blob(1))
