"""Names in files of known hosts, against ssh-keygen where it can be asked."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recon.hosts.patterns import globbed, hashed, lookup_name, matches

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEt4FZz9cD+6UDIB1c7kY1HfNeKLZL5sFF3BPuH3YMx1"

TABLE = [
    ("gpu07", "gpu07", True),
    ("gpu07", "gpu0", False),
    ("gpu07,10.0.0.7", "10.0.0.7", True),
    ("*.corp", "a.b.corp", True),
    ("*.corp", "corp", False),
    ("gpu?7", "gpu07", True),
    ("gpu?7", "gpu7", False),
    ("*,!gpu07", "gpu07", False),
    ("!gpu07,*", "gpu08", True),
    ("!gpu07", "gpu08", False),
    ("GPU07.Corp", "gpu07.corp", True),
    ("[gpu07]:2222", "[gpu07]:2222", True),
    ("[*.corp]:2222", "[x.corp]:2222", True),
    ("gpu07", "[gpu07]:2222", False),
    ("[gpu07]:2222", "gpu07", False),
    ("*", "[::1]:2222", True),
    ("::1", "::1", True),
    ("", "gpu07", False),
    ("|1|bad", "gpu07", False),
    ("|2|AAAA|AAAA", "gpu07", False),
    ("|1|AAAA|not base64", "gpu07", False),
]


@pytest.mark.parametrize(("patterns", "name", "is_named"), TABLE)
def test_a_line_names_a_host(patterns: str, name: str, is_named: bool) -> None:
    """Patterns, negation, ports, case."""
    assert is_named is matches(patterns, name)


def test_names_are_looked_up_in_lower_case_and_with_a_port_of_their_own() -> None:
    """The usual port is not written."""
    assert ("gpu07", "gpu07", "[gpu07]:2222", "[::1]:23") == (
        lookup_name("GPU07", 22),
        lookup_name("gpu07", 0),
        lookup_name("Gpu07", 2222),
        lookup_name("::1", 23),
    )


def test_a_digest_names_its_host_and_no_other() -> None:
    """Salted, so that two digests of a name differ."""
    one, other = hashed("gpu07"), hashed("gpu07")

    assert one != other
    assert (True, True, False) == (matches(one, "gpu07"), matches(other, "gpu07"), matches(one, "gpu08"))


def test_many_stars_are_no_trap() -> None:
    """Matching that goes back for each star would take longer than anybody lives."""
    started = time.monotonic()

    assert not globbed("*a" * 200 + "b", "a" * 250)
    assert time.monotonic() - started < 1


NAME = st.text(st.sampled_from("ab.1"), min_size=1, max_size=5)
LIST = st.lists(
    st.tuples(st.booleans(), st.text(st.sampled_from("abAB.1*?"), min_size=1, max_size=5)), min_size=1, max_size=3
).map(lambda parts: ",".join("!" * negated + pattern for negated, pattern in parts))


@pytest.mark.system("ssh-keygen")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LIST, min_size=1, max_size=8), name=NAME, port=st.sampled_from([22, 2222]))
@example(lines=["[a*]:2222", "a", "*,!a", "[A]:2222"], name="a", port=2222)
def test_lines_name_hosts_as_ssh_keygen_says(lines: list[str], name: str, port: int, tmp_path: Path) -> None:
    """It prints the numbers of the lines that it finds; every second line holds a digest of the first pattern."""
    wanted = lookup_name(name, port)
    fields = [line if number % 2 else hashed(line.partition(",")[0]) for number, line in enumerate(lines)]
    fields += [*lines, hashed(wanted), wanted]
    known = tmp_path / "known"
    known.write_text("".join(f"{field} {KEY}\n" for field in fields))
    words = ["ssh-keygen", "-F", wanted, "-f", str(known)]
    said = subprocess.run(words, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    found = [int(line.split()[-1]) for line in said.splitlines() if line.startswith("# Host")]

    assert found == [number for number, field in enumerate(fields, 1) if matches(field, wanted)]
    assert len(fields) in found
