"""What a page holds packed, read as its script reads it."""

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

SCRIPT = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)


def unpacked(scripts: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows and the details, from the texts of a page's scripts."""
    rows, details, *_ = scripts
    return json.loads(gzip.decompress(b64decode(rows))), json.loads(gzip.decompress(b64decode(details)))


def scripts_of(page: str) -> list[str]:
    """The texts of a page's scripts."""
    return SCRIPT.findall(page)


def anchors(rows: dict[str, Any]) -> list[str]:
    """Ids of the answers, made as the page's script makes them."""
    each = zip(rows["rows"][::4], rows["rows"][1::4], strict=True)
    return [f"v-{rows['installs'][install][0]}--{rows['capabilities'][capability][0]}" for install, capability in each]


def words(rows: dict[str, Any]) -> list[str]:
    """The standing of each answer, as it is shown."""
    return [rows["words"][rows["heads"][head][0]][2] for head in rows["rows"][2::4]]
