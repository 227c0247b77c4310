"""Differences: what two runs say otherwise, and what kept them from being compared."""

from dataclasses import dataclass
from enum import Enum

from recon.records.measurement import Spread
from recon.records.verdict import OwnWord, Reach, Standing


class Outcome(Enum):
    """How the time of a kernel in one run stands to its time in another."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class TimeChange:
    """One kernel on one case, timed in both runs."""

    probe: str
    kernel: str
    case: dict[str, int | float | str]
    gpu: str
    """Model of both."""
    before: Spread | None
    """Null where it was not timed, or disagreed with its reference."""
    after: Spread | None
    ratio: float | None
    """Median of the second over that of the first; above 1 it became slower."""
    low: float | None
    """Low end of the second interval over the high end of the first."""
    high: float | None
    outcome: Outcome
    differs: tuple[str, ...]
    """Conditions that are not equal, e.g. `driver: 570 before, 575 after`; where there is one, nothing is told."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One capability that two trees are judged otherwise on, with other evidence, or with another word of a user's."""

    capability: str
    before: Standing | None
    """Null where it was not judged."""
    after: Standing | None
    reach_before: Reach | None
    reach_after: Reach | None
    reason_before: str
    reason_after: str
    gone: tuple[str, ...]
    """Places of evidence of the first alone, as `path:line symbol`."""
    come: tuple[str, ...]
    """Places of the second alone.

    One whose line alone is another is in neither, nor is one that the other run names behind its best, if the standing
    is the same.
    """
    own_word_before: OwnWord | None
    """What the user says instead of the first verdict; it changes with its standing or reason, not with its file."""
    own_word_after: OwnWord | None

    @property
    def is_other_verdict(self) -> bool:
        """Whether recon judged otherwise, or by other places: more than the user's own word changed."""
        before, after = (self.before, self.reach_before), (self.after, self.reach_after)
        return before != after or bool(self.gone or self.come)

    @property
    def is_other_word(self) -> bool:
        """Whether the user's own word came, went, or says something else; in which file it is said is nothing."""
        said = [(each.standing, each.reason) if each else None for each in (self.own_word_before, self.own_word_after)]
        return said[0] != said[1]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that verdicts rest on, or lead through, and that is not the same in both trees."""

    path: str
    change: str
    """`changed`, `added` or `removed`."""
    capabilities: tuple[str, ...]
    """Those whose evidence, near misses or call paths lie in it."""


@dataclass(frozen=True, slots=True)
class InstallChange:
    """One tree in two runs, or a tree that one of them has alone."""

    before: str
    """Its id in the first run; empty where it has none."""
    after: str
    verdicts: tuple[VerdictChange, ...]
    """Those that changed."""
    unchanged: int
    """Verdicts that are the same with the same evidence and the same word of the user's."""
    files: tuple[FileChange, ...]
    files_why: str
    """Why files could not be compared; empty where they were."""


@dataclass(frozen=True, slots=True)
class RunName:
    """A run that was compared."""

    name: str
    started_at: str
    recon_version: str
    complete: bool


@dataclass(frozen=True, slots=True)
class RunDifference:
    """What two runs say otherwise."""

    schema_version: int
    recon_version: str
    """Of the one that compared."""
    before: RunName
    after: RunName
    differs: tuple[str, ...]
    """What of the runs themselves is not equal, so that trees need not be why verdicts differ."""
    installs: tuple[InstallChange, ...]
    times: tuple[TimeChange, ...]
    only_before: int
    """Times that the second run has no counterpart of."""
    only_after: int
