"""Policies: what a user demands of an answer, and where a run falls short of it."""

from dataclasses import dataclass

from recon.records.verdict import Standing


@dataclass(frozen=True, slots=True)
class PolicyFailure:
    """One demand that one verdict does not meet."""

    rule: str
    """The kind of demand, a word for machines: `fail-on` or `require`."""
    demand: str
    """As the user said it, e.g. `--fail-on absent,unknown`, or the place in a configuration file."""
    install: str
    """Id of the install; empty where no install is at fault, e.g. because none was found."""
    capability: str
    """Empty where none was asked about."""
    standing: Standing | None
    """What the verdict says; null where there is none."""
    message: str
    """What was demanded and what was found, in one sentence."""
