"""Users' own words on verdicts: which verdict each is about, and the run with them beside what was seen."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recon.records.host import by_name
from recon.records.install import Install
from recon.records.run import Run
from recon.records.verdict import OwnWord, Verdict


@dataclass(frozen=True, slots=True)
class Said:
    """What a user says of one capability, and of which installs: each empty text means any."""

    capability: str
    word: OwnWord
    engine: str = ""
    version: str = ""
    host: str = ""
    """Name or id."""
    source: str = ""
    """How the digest of the sources begins: of another tree the word says nothing."""

    def is_about(self, install: Install, host: str) -> bool:
        """Whether it speaks of an install on a host of that name."""
        return (
            self.engine in ("", install.engine.value)
            and self.version in ("", install.version)
            and self.host in ("", install.host, host)
            and install.source_digest.startswith(self.source)
        )


def with_words(run: Run, said: Iterable[Said]) -> Run:
    """The run with the words beside the verdicts that they are about; of several on one, the last one stands.

    Words that it holds already, from when it was made, stay where nothing else is said.
    """
    words = tuple(said)
    if not words:
        return run
    hosts = by_name(run.hosts)

    def heard(install: Install, verdict: Verdict) -> Verdict:
        name = hosts[install.host].name if install.host in hosts else install.host
        mine = [each for each in words if each.capability == verdict.capability and each.is_about(install, name)]
        return replace(verdict, own_word=mine[-1].word) if mine else verdict

    installs = (
        replace(each, verdicts=tuple(heard(each, verdict) for verdict in each.verdicts)) for each in run.installs
    )
    return replace(run, installs=tuple(installs))


def idle(run: Run, said: Iterable[Said]) -> tuple[Said, ...]:
    """Words that are about nothing in a run."""
    hosts = by_name(run.hosts)
    judged = [
        (verdict.capability, install, hosts[install.host].name if install.host in hosts else install.host)
        for install in run.installs
        for verdict in install.verdicts
    ]
    return tuple(
        each
        for each in said
        if not any(
            each.capability == capability and each.is_about(install, host) for capability, install, host in judged
        )
    )
