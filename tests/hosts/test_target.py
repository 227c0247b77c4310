"""What users call hosts, and what no host is called."""

import pytest

from recon.errors import Usage
from recon.hosts.target import Target, jumps, parse, written

MEANT = {
    "gpu07": ("", "gpu07", 0),
    "GPU07.Example": ("", "GPU07.Example", 0),
    "me@gpu07": ("me", "gpu07", 0),
    "me@gpu07:2222": ("me", "gpu07", 2222),
    "me@example.org@gpu07": ("me@example.org", "gpu07", 0),
    "DOMAIN\\me@gpu07": ("DOMAIN\\me", "gpu07", 0),
    "machine$@gpu07": ("machine$", "gpu07", 0),
    "10.0.0.7:22": ("", "10.0.0.7", 22),
    "::1": ("", "::1", 0),
    "[::1]": ("", "::1", 0),
    "[::1]:22": ("", "::1", 22),
    "me@[2001:db8::7]:2222": ("me", "2001:db8::7", 2222),
    "fe80::1%eth0": ("", "fe80::1%eth0", 0),
    "me@[fe80::1%eth0]:65535": ("me", "fe80::1%eth0", 65535),
    "::ffff:10.0.0.7": ("", "::ffff:10.0.0.7", 0),
    "[gpu07]:2222": ("", "gpu07", 2222),
    "ssh://gpu07": ("", "gpu07", 0),
    "ssh://me@gpu07:2222/": ("me", "gpu07", 2222),
    "SSH://a%40b@[::1]:22": ("a@b", "::1", 22),
    "gpu_07": ("", "gpu_07", 0),
    "gpu-füf": ("", "gpu-füf", 0),
}

NO_HOST = [
    "",
    "@gpu07",
    "me@",
    "gpu07:",
    "gpu07:0",
    "gpu07:65536",
    "gpu07:22x",
    "gpu07:²",
    "gpu07:" + "9" * 5000,
    "[::1",
    "[::1]22",
    "[]:22",
    "-oProxyCommand=reboot",
    "me@-oProxyCommand=reboot",
    "-l@gpu07",
    "gpu07;reboot",
    "gpu07`reboot`",
    "$(reboot)",
    "gpu 07",
    "gpu\n07",
    "me;reboot@gpu07",
    "me -oX@gpu07",
    "me\\@gpu07",
    "https://gpu07",
    "ssh://gpu07/home",
    "ssh://me;reboot@gpu07",
    "ssh://%2doProxyCommand=x@gpu07",
]


PASSWORDS = [
    "root:hunter2@gpu1",
    "ssh://root:hunter2@gpu1",
    "ssh://root%3Ahunter2@gpu1",
    "ssh://root:hun@hunter2/er@gpu1:22",
    "root:hunter2@[::1]:22",
    "SSH://root:hunter2/@gpu1",
    "https://root:hunter2@gpu1",
    ":hunter2@gpu1",
    "root:hunter2://x@gpu1",
]


@pytest.mark.parametrize("words", PASSWORDS)
def test_a_password_is_refused_and_not_repeated(words: str) -> None:
    with pytest.raises(Usage, match="no password in an address") as caught:
        parse(words)

    assert "hunter2" not in caught.value.sentence


@pytest.mark.parametrize("words", MEANT)
def test_words_mean_a_host(words: str) -> None:
    """As ssh reads them."""
    user, host, port = MEANT[words]

    assert Target(words, user, host, port) == parse(words)


@pytest.mark.parametrize("words", NO_HOST)
def test_what_a_program_would_read_as_more_than_a_name_is_no_host(words: str) -> None:
    """Neither an option nor a piece of a shell's line gets through."""
    with pytest.raises(Usage) as caught:
        parse(words)

    assert caught.value.hint


@pytest.mark.parametrize("words", [words for words in MEANT if "@example" not in words])
def test_a_target_survives_being_written(words: str) -> None:
    """Jumps are handed on to ssh in words."""
    target = parse(words)
    again = parse(written(target))

    assert (target.user, target.host, target.port) == (again.user, again.host, again.port)


def test_jumps_come_in_their_order_and_none_is_none() -> None:
    """`none` is not a host."""
    assert () == jumps("none")
    assert ("a", "b", "c") == tuple(each.host for each in jumps("a,me@b:2222, c"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("gpu07:0", "'gpu07:0': '0' is no port"),
        ("gpu07:abc", "'gpu07:abc': 'abc' is no port"),
        ("[::1]:65536", "'[::1]:65536': '65536' is no port"),
        ("gpu07:", "'gpu07:': there is no port after ':'"),
    ],
)
def test_what_is_no_port_is_named(words: str, said: str) -> None:
    with pytest.raises(Usage) as caught:
        parse(words)

    assert said == caught.value.message
    assert "from 1 to 65535" in caught.value.hint
