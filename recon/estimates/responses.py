"""Counts out of saved responses of a server that tells of each request how far its chains got.

SGLang puts a histogram into `meta_info`: rounds by accepted drafts, named `spec_accept_histogram` or, in 0.5.23,
`spec_correct_drafts_histogram`. vLLM (0.33) does the same below `metrics` when it is started with
`--per-request-spec-decode-metrics summary`. A file holds one response a line, or all of them as JSON.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Never

from recon.errors import BadMetrics
from recon.estimates.counts import LONGEST, Counts, of_histograms

LARGEST = 1 << 26
"""Characters of a file."""
DEEPEST = 6
"""Levels of a response at which histograms are looked for."""
HISTOGRAMS = ("spec_correct_drafts_histogram", "spec_accept_histogram", "acceptance_histogram")
CUT = "spec_cap_lens_histogram"
_SOURCES = {"acceptance_histogram": "responses of vLLM"}
_UNSTATED = "Nothing says how long chains were; taken to be as long as the longest that was accepted whole."
_TREES = "If the server verified trees, these are of trees and not of chains."


def read(lines: Iterable[str]) -> Counts:
    """Counts of all responses together, each request apart.

    Raises:
        BadMetrics: It is no JSON, a histogram is none, or there is none; with the line, or the number of the response.
    """
    found = [each for where, value in _values(lines) for each in _histograms(where, value)]
    if not found:
        raise BadMetrics(
            f"No response holds any of {', '.join(HISTOGRAMS)}",
            "SGLang tells them in meta_info of /generate, vLLM 0.33 with --per-request-spec-decode-metrics summary.",
        )
    names = {name for name, _, _, _ in found}
    if len({_SOURCES.get(name, "responses of SGLang") for name in names}) > 1:
        raise BadMetrics("The responses come from different engines", "Keep those of one server.")
    if not any(sum(each) for _, each, _, _ in found):
        raise BadMetrics("No response tells of a single round")
    length = max(max(len(each) - 1, stated) for _, each, stated, _ in found)
    cut = any(cut for _, _, _, cut in found)
    notes = () if names <= set(_SOURCES) else (_TREES,)
    if not any(stated for _, _, stated, _ in found):
        notes = (*notes, _UNSTATED)
    source = _SOURCES.get(next(iter(names)), "responses of SGLang")
    told = of_histograms(source, [each for _, each, _, _ in found], max(length, 1), notes)
    if not cut:
        return told
    note = "Chains were cut to different lengths, so what longer ones would have got is not known."
    return Counts(source, 0, told.rounds, (), told.mean, told.requests, cut=True, notes=(*notes, note))


def _values(lines: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Responses with the name of their place: lines where each is JSON of its own, else items of one list."""
    kept, size = [], 0
    for line in lines:
        size += len(line)
        if size > LARGEST:
            raise BadMetrics(f"The responses are longer than {LARGEST} characters", "A few thousand of them will do.")
        kept.append(line)
    numbered = [(number, line) for number, line in enumerate(kept, 1) if line.strip()]
    try:
        whole = _json("".join(kept))
    except ValueError:
        for number, line in numbered:
            yield f"Line {number}", _parsed(number, line)
        return
    if isinstance(whole, list):
        yield from ((f"Response {number}", each) for number, each in enumerate(whole, 1))
    else:
        yield "Response 1", whole


def _parsed(number: int, line: str) -> object:
    try:
        return _json(line)
    except ValueError:
        raise BadMetrics(f"Line {number} of the responses is no JSON") from None


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(text[:20]) from None


def _histograms(where: str, value: object, level: int = 0) -> Iterator[tuple[str, list[int], int, bool]]:
    """Name, rounds by accepted drafts, drafts of a chain (0 if not said), and whether chains were cut."""
    if level > DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _histograms(where, each, level + 1)
    if not isinstance(value, dict):
        return
    name = next((name for name in HISTOGRAMS if name in value), None)
    if name is None:
        for each in value.values():
            yield from _histograms(where, each, level + 1)
    elif value[name] is not None:
        counts = _histogram(where, name, value[name])
        yield name, counts, _length(where, value), CUT in value or _is_cut(value, counts)


def _histogram(where: str, name: str, value: object) -> list[int]:
    if not isinstance(value, list) or not 0 < len(value) <= LONGEST + 1:
        _fail(where, f"no list of up to {LONGEST + 1} numbers as {name}")
    if not all(type(each) is int and 0 <= each < 1 << 40 for each in value):
        _fail(where, f"no counts as {name}")
    return value


def _length(where: str, value: dict[str, object]) -> int:
    """Drafts of a chain, where they are said: by vLLM; SGLang says how many drafts there were in all rounds."""
    stated = value.get("num_spec_tokens", 0)
    if type(stated) is not int or not 0 <= stated <= LONGEST:
        _fail(where, f"no number up to {LONGEST} as num_spec_tokens")
    if stated:
        return stated
    drafts = value.get("spec_num_proposed_drafts", value.get("spec_proposed_drafts"))
    rounds = value.get("spec_verify_ct")
    if type(drafts) is not int or type(rounds) is not int or rounds <= 0 or drafts % rounds:
        return 0
    return drafts // rounds if 0 < drafts // rounds <= LONGEST else 0


def _is_cut(value: dict[str, object], counts: list[int]) -> bool:
    drafts, length = value.get("num_draft_tokens"), value.get("num_spec_tokens")
    return type(drafts) is int and type(length) is int and drafts < sum(counts) * length


def _fail(where: str, what: str) -> Never:
    raise BadMetrics(f"{where} has {what}")
