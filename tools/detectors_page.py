"""Write docs/detectors.md from the pages of the detectors, or with --check say whether it is what they say."""

import os
import re
import sys
from itertools import groupby
from pathlib import Path

os.environ["RECON_PLUGINS"] = "off"  # detectors of other distributions are documented there

from recon.detectors.api import Detector
from recon.detectors.registry import ours
from recon.report.words import group_of, rank_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "detectors.md"
HEAD = """# Detectors

<!-- Written by `make docs` from the detectors' own pages; an edit here would be lost. -->

What recon can judge, and what counts as having it, in a line. `recon explain CAPABILITY` prints the whole page of each:
what it is, what counts, what is not seen, sources. How to write one is [told with an example](writing-a-detector.md).
"""


def counts(detector: Detector) -> str:
    """The first sentence of what counts most: that of the highest grade which the page names first."""
    said = detector.page.partition("What counts\n")[2].partition("\nBlind spots")[0]
    text = " ".join(said.split())
    grade, _, rest = text.partition(": ")
    if grade not in {"shaped", "declared"}:
        grade, _, rest = re.split(r"(?=\b(?:shaped|declared): )", text, maxsplit=1)[-1].partition(": ")
    sentence = re.split(r"(?<=[.;]) (?=[A-Za-z])", rest, maxsplit=1)[0]
    return sentence[:1].upper() + sentence[1:].rstrip(".;") + "."


def page() -> str:
    """The whole file."""
    parts = [HEAD]
    detectors = sorted(ours(), key=lambda detector: rank_of(detector.capability))
    for group, members in groupby(detectors, key=lambda detector: group_of(detector.capability)):
        parts.append(f"\n## {group}\n\n| Capability | Is called | Counts |\n| --- | --- | --- |\n")
        for each in members:
            file = f"../recon/detectors/builtin/{each.capability.replace('.', '_')}.py"
            cells = (f"[`{each.capability}`]({file})", each.title, counts(each))
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return "".join(parts)


def main() -> int:
    """Write the page, or check it."""
    written = page()
    if sys.argv[1:] == ["--check"]:
        is_true = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == written
        if not is_true:
            print(f"{PAGE} is not what the detectors say: run `make docs`", file=sys.stderr)
        return int(not is_true)
    PAGE.write_text(written, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
