"""What a script says is told from noise, and inflates to no more than was agreed."""

import zlib
from collections.abc import Callable

import pytest

from recon.sources.framing import HostileStream, Incoming, frames

NONCE = "0123456789abcdef"


def gathered(data: bytes, *, cap: int = 1 << 20, step: int = 7) -> tuple[str, bytes]:
    heard = bytearray()
    how = []

    def taker(word: str) -> Callable[[bytes], None]:
        how.append(word)
        return heard.extend

    incoming = Incoming(NONCE, taker, cap)
    for at in range(0, len(data), step):
        incoming(data[at : at + step])
    return "".join(how), bytes(heard)


def gzip(data: bytes) -> bytes:
    deflate = zlib.compressobj(wbits=31)
    return deflate.compress(data) + deflate.flush()


@pytest.mark.parametrize("noise", [b"", b"Welcome to gpu07\n", b"\n\n 0123456789abcde\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_noise_before_the_first_frame_is_dropped(noise: bytes, packed: bool) -> None:
    """Banners and profiles; what comes after the end of the archive too."""
    body = b"\0\xff body" * 100
    head = f"\n{NONCE} tar {'gzip' if packed else 'cat'}\n".encode()
    data = noise + head + (gzip(body) + b"logout\n" if packed else body)

    assert ("tar", body) == gathered(data)


def test_a_bomb_ends_at_its_cap() -> None:
    """A megabyte that claims to be a gigabyte is inflated no further than was agreed."""
    data = f"\n{NONCE} tar gzip\n".encode() + gzip(bytes(50_000_000))
    with pytest.raises(HostileStream, match="more than it listed"):
        gathered(data, cap=1 << 20, step=1000)


def test_damage_is_told() -> None:
    """No error of a library reaches whoever asked."""
    data = bytearray(f"\n{NONCE} tar gzip\n".encode() + gzip(b"body" * 1000))
    data[40:50] = bytes(10)
    with pytest.raises(HostileStream, match="damaged"):
        gathered(bytes(data))


def test_a_host_that_only_chats_is_told() -> None:
    """Without a frame the noise has a ceiling."""
    with pytest.raises(HostileStream, match="something else"):
        gathered(b"chat " * 300_000, step=10_000)


def test_a_frame_counts_once_it_is_closed() -> None:
    """The last one of a stream that was cut is left out; bodies may hold anything but the nonce."""
    data = f"noise\n{NONCE} 0 ok\nbo\ndy\n{NONCE} 1 ok\n\n{NONCE} 2 ok\ncut of".encode()

    assert [("0 ok", b"bo\ndy"), ("1 ok", b"")] == list(frames(data, NONCE))
