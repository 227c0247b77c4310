"""Counts out of what a server tells Prometheus, in its text form: saved to a file by whoever may ask the server.

vLLM (its version 1 engine) counts rounds, drafts and, for each position of a chain, how often its draft was accepted;
names end in `_total` or not. SGLang has gauges alone, of the last moment: a mean and no counts.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recon.errors import BadMetrics
from recon.estimates.counts import LONGEST, Counts

ROUNDS = "vllm:spec_decode_num_drafts"
DRAFTED = "vllm:spec_decode_num_draft_tokens"
ACCEPTED = "vllm:spec_decode_num_accepted_tokens"
REACHED = "vllm:spec_decode_num_accepted_tokens_per_pos"
EMITTED = "vllm:spec_decode_num_emitted_tokens"
DIFFUSION = "vllm:diffusion_num_denoising_steps"
MEAN = "sglang:spec_accept_length"
DRAFTS = "sglang:spec_num_draft_tokens"
NAMES = (ROUNDS, DRAFTED, ACCEPTED, REACHED, EMITTED, DIFFUSION, MEAN, DRAFTS)
MOMENT = 40
"""Rounds that a gauge is a mean of, at the least: steps between two reports of a server that was told nothing else.

Source: decode_log_interval of SGLang.
"""
LOOSE = 64
"""Rounds that may pass between the reading of two counters."""
LONGEST_LINE = 1 << 16
_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?[ \t]*(?:#.*)?")
_LABEL = re.compile(r'\s*([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"\s*(?:,|$)')


@dataclass(slots=True)
class _Samples:
    """One model's samples, and their sums over its engines."""

    model: str
    each: dict[tuple[str, frozenset[tuple[str, str]]], float] = field(default_factory=dict)
    """By name and labels."""

    @property
    def sums(self) -> Mapping[str, float]:
        sums: defaultdict[str, float] = defaultdict(float)
        for (name, _), value in self.each.items():
            sums[name] += value
        return sums

    @property
    def reached(self) -> Mapping[int, float]:
        """By position."""
        reached: defaultdict[int, float] = defaultdict(float)
        for (name, labels), value in self.each.items():
            if name == REACHED:
                reached[int(dict(labels)["position"])] += value
        return reached

    def mean(self, name: str) -> float:
        """Of the engines that have anything to tell: one that is idle has 0."""
        told = [value for (named, _), value in self.each.items() if named == name and value]
        return sum(told) / len(told) if told else 0.0


def looks_like(line: str) -> bool:
    """Whether a file that begins with this line is such a text."""
    return line.startswith("#") or _SAMPLE.fullmatch(line.strip()) is not None


def read(lines: Iterable[str], since: Iterable[str] | None = None) -> Counts:
    """Counts of the one model that the text tells of.

    Args:
        lines: Of the text.
        since: Of an earlier text of the same server, what it had counted until then being left out.

    Raises:
        BadMetrics: A line of interest is malformed (with its number), several models are told of, or none; or the
            earlier text is not of the same server without a restart.
    """
    samples = _samples(lines)
    if since is not None:
        samples = _since(samples, _samples(since))
    return _of_counters(samples) if ROUNDS in samples.sums else _of_gauges(samples)


def _since(now: _Samples, then: _Samples) -> _Samples:
    if ROUNDS not in now.sums or ROUNDS not in then.sums:
        raise BadMetrics(
            "Gauges tell of a moment, and not of the time since another", "Only counters can be subtracted."
        )
    if now.model != then.model:
        one, other = (each.model or "no named model" for each in (then, now))
        raise BadMetrics(f"The earlier metrics are of {one}, the later ones of {other}")
    if any(now.each.get(sample, -1.0) < value for sample, value in then.each.items()):  # one engine is enough
        raise BadMetrics("The counters ran backwards", "The server was started again, or the files are swapped.")
    return _Samples(now.model, {sample: value - then.each.get(sample, 0.0) for sample, value in now.each.items()})


def _samples(lines: Iterable[str]) -> _Samples:
    models: dict[str, _Samples] = {}
    for number, line in enumerate(lines, 1):
        _take(number, line, models)
    if len(models) > 1:
        named = ", ".join(sorted(models)[:5])
        raise BadMetrics(f"The metrics tell of {len(models)} models: {named}", "Keep the lines of one model.")
    if not models:
        raise BadMetrics(
            "The metrics say nothing of speculative decoding",
            f"Looked for {ROUNDS} and {MEAN}: is it switched on, and are metrics (SGLang: --enable-metrics)?",
        )
    (samples,) = models.values()
    return samples


def _take(number: int, line: str, models: dict[str, _Samples]) -> None:
    text = line.strip()
    if not text.startswith(("vllm", "sglang")):
        return
    if len(text) > LONGEST_LINE:
        raise BadMetrics(f"Line {number} of the metrics is longer than {LONGEST_LINE} characters")
    found = _SAMPLE.fullmatch(text)
    name = _plain(found[1] if found else re.split(r"[{\s]", text)[0])
    if name not in NAMES:
        return
    if found is None:
        raise BadMetrics(f"Line {number} of the metrics is no sample of {name}")
    labels, value = _labels(number, found[2] or ""), _value(number, found[3])
    model = labels.get("model_name", "")
    each = models.setdefault(model, _Samples(model)).each
    position = labels.get("position", "") if name == REACHED else "0"
    if not position.isascii() or not position.isdigit() or len(position) > 3 or int(position) >= LONGEST:
        raise BadMetrics(f"Line {number} of the metrics has no position from 0 to {LONGEST - 1}")
    sample = name, frozenset(labels.items())
    if sample in each:
        raise BadMetrics(
            f"Line {number} of the metrics tells of {name} a second time, with the same labels",
            "Keep one reading in a file; recon trace convert --since takes an earlier one from a later one.",
        )
    each[sample] = value


def _plain(name: str) -> str:
    """The name without `_total`, and with the colon that some exporters turn into a line."""
    return re.sub(r"^(vllm|sglang)_", r"\1:", name).removesuffix("_total")


def _labels(number: int, text: str) -> Mapping[str, str]:
    labels, at = {}, 0
    while at < len(text):
        found = _LABEL.match(text, at)
        if found is None:
            raise BadMetrics(f"Line {number} of the metrics has labels that cannot be read")
        labels[found[1]] = found[2]
        at = found.end()
    return labels


def _value(number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1 << 53:
        raise BadMetrics(f"Line {number} of the metrics has no number from 0 as its value")
    return value


def _of_counters(samples: _Samples) -> Counts:
    sums = samples.sums
    rounds, accepted, drafted = sums[ROUNDS], sums.get(ACCEPTED, math.nan), sums.get(DRAFTED, 0.0)
    if not rounds:
        raise BadMetrics("The server has drafted nothing yet", "Send it requests, and save its metrics again.")
    counted = samples.reached
    length = len(counted)
    reached = [counted.get(position, math.nan) for position in range(length)]
    levels = [rounds, *reached]
    falls = all(above + LOOSE >= below for above, below in zip(levels, reached, strict=False))
    if not (falls and abs(sum(reached) - accepted) <= LOOSE * length):  # NaN is what nobody counted
        raise BadMetrics(
            "The counters contradict one another",
            "Positions are to be numbered from 0 without gaps, fall, and add up to the accepted tokens.",
        )
    for depth in range(1, length + 1):
        levels[depth] = min(levels[depth], levels[depth - 1])
    source = "counters of vLLM"
    if drafted < rounds * length - LOOSE * length:
        note = (
            f"Chains were drafted shorter than {length} now and then ({drafted / rounds:.2f} on average), so what"
            " longer ones would have got is not known."
        )
        return Counts(source, 0, int(rounds), (), 1 + accepted / rounds, notes=(note,), cut=True)
    whole = [int(level) for level in levels]
    return Counts(source, length, whole[0], tuple(whole[1:]), 1 + sum(whole[1:]) / whole[0])


def _of_gauges(samples: _Samples) -> Counts:
    if MEAN not in samples.sums:
        what = "a diffusion model, which has no chains" if DIFFUSION in samples.sums else "tokens and not of rounds"
        raise BadMetrics(
            f"The metrics tell of {what}",
            "" if DIFFUSION in samples.sums else "Of chains of K drafts, 1 + K * accepted / drafted is --linear-tau.",
        )
    mean = samples.mean(MEAN)
    if mean < 1:
        raise BadMetrics("The server has accepted nothing yet", "Save its metrics while it works on requests.")
    note = (
        f"A gauge tells of the last moment only: it counts as {MOMENT} rounds. Save it several times under your load,"
        " and look how it scatters."
    )
    tree = "If the server verified trees, it is of trees and not of chains."
    length = samples.mean(DRAFTS) - 1 if DRAFTS in samples.sums else 0
    known = int(length) if length == int(length) and 1 <= length < LONGEST else 0
    return Counts("a gauge of SGLang", known, MOMENT, (), mean, notes=(note, tree))
