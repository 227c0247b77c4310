"""The bytes of a Python file as UTF-8."""

import io
import tokenize


def utf8(data: bytes) -> bytes:
    """The same text in UTF-8, whatever encoding its cookie names."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return data.decode(encoding).encode()
        except (SyntaxError, UnicodeDecodeError, LookupError):
            return data.decode("latin-1").encode()
    return data
