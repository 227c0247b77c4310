"""Verdicts of two runs against each other, and the files that they rest on."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from recon.records.difference import FileChange, InstallChange, VerdictChange
from recon.records.evidence import Evidence
from recon.records.install import Install
from recon.records.verdict import Verdict

Digests = Callable[[Install], "Mapping[str, str] | None"]
"""The digest of each file of a tree, by path; None where they are not known any more."""


def installs_changed(
    before: Sequence[Install], after: Sequence[Install], digests: Digests
) -> tuple[InstallChange, ...]:
    """Trees that are in both runs, in the order of the first, then those of one alone.

    A tree is the same one where engine, host and place are equal; else where one of its engine is left on each side,
    which is how two releases are compared.
    """
    pairs = paired(before, after)
    changes = [_change(one, other, digests) for one, other in pairs]
    changes += [_alone(each, "") for each in before if each not in [one for one, _ in pairs]]
    changes += [_alone("", each) for each in after if each not in [other for _, other in pairs]]
    return tuple(changes)


def paired(before: Sequence[Install], after: Sequence[Install]) -> list[tuple[Install, Install]]:
    """Trees of two runs that are one tree."""
    found: list[tuple[Install, Install]] = []
    for alike in (_exactly, _at_one_place, _of_one_engine):
        left = [each for each in before if all(each is not one for one, _ in found)]
        right = [each for each in after if all(each is not other for _, other in found)]
        first, second = _by(alike, left), _by(alike, right)
        found += [
            (some[0], second[key][0]) for key, some in first.items() if len(some) == len(second.get(key, ())) == 1
        ]
    order = {id(each): number for number, each in enumerate(before)}
    return sorted(found, key=lambda pair: order[id(pair[0])])


def _exactly(install: Install) -> tuple[str, ...]:
    return (*_at_one_place(install), install.version)


def _at_one_place(install: Install) -> tuple[str, ...]:
    return (install.engine.value, install.host, install.location)


def _of_one_engine(install: Install) -> tuple[str, ...]:
    return (install.engine.value,)


def _by(
    alike: Callable[[Install], tuple[str, ...]], installs: Iterable[Install]
) -> dict[tuple[str, ...], list[Install]]:
    found: defaultdict[tuple[str, ...], list[Install]] = defaultdict(list)
    for each in installs:
        found[alike(each)].append(each)
    return found


def _alone(before: Install | str, after: Install | str) -> InstallChange:
    one, other = (each.id if isinstance(each, Install) else each for each in (before, after))
    return InstallChange(one, other, (), 0, (), "")


def _change(before: Install, after: Install, digests: Digests) -> InstallChange:
    first = {each.capability: each for each in before.verdicts}
    second = {each.capability: each for each in after.verdicts}
    names = list(dict.fromkeys((*first, *second)))
    changes = [change for name in names if (change := _verdict(name, first.get(name), second.get(name)))]
    files, why = _files(before, after, digests)
    return InstallChange(before.id, after.id, tuple(changes), len(names) - len(changes), files, why)


def _verdict(capability: str, before: Verdict | None, after: Verdict | None) -> VerdictChange | None:
    """What changed of a verdict; None where nothing did. Other words, or lines of the same places, are nothing."""
    alike = before is not None and after is not None and before.standing is after.standing
    one, other = _evidence(before), _evidence(after)
    change = VerdictChange(
        capability=capability,
        before=before.standing if before else None,
        after=after.standing if after else None,
        reach_before=before.reach if before else None,
        reach_after=after.reach if after else None,
        reason_before=before.reason if before else "",
        reason_after=after.reason if after else "",
        gone=_lacking(one, _known(after, wide=alike)),
        come=_lacking(other, _known(before, wide=alike)),
        own_word_before=before.own_word if before else None,
        own_word_after=after.own_word if after else None,
    )
    return change if change.is_other_verdict or change.is_other_word else None


def _evidence(verdict: Verdict | None) -> tuple[Evidence, ...]:
    return verdict.evidence if verdict else ()


def _known(verdict: Verdict | None, *, wide: bool) -> set[tuple[str, str]]:
    """The places that a verdict rests on; with those behind its five best, where the answer is the same."""
    places = (*_evidence(verdict), *(verdict.nearest if verdict and wide else ()))
    return {(each.path, each.symbol) for each in places}


def _lacking(evidence: Iterable[Evidence], known: set[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(_at(each) for each in evidence if (each.path, each.symbol) not in known)


def _at(each: Evidence) -> str:
    return f"{each.path}:{each.line} {each.symbol}"


def _files(before: Install, after: Install, digests: Digests) -> tuple[tuple[FileChange, ...], str]:
    if before.source_digest == after.source_digest:
        return (), ""
    one, other = digests(before), digests(after)
    if one is None or other is None:
        missing = [each.id for each, known in ((before, one), (after, other)) if known is None]
        return (), f"what the files of {' and '.join(missing)} held is not in the cache any more"
    touched = _touched(before)
    for path, names in _touched(after).items():
        touched[path] |= names
    return tuple(_changed(touched, one, other)), ""


def _changed(
    touched: Mapping[str, set[str]], before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[FileChange]:
    for path, names in sorted(touched.items()):
        if before.get(path) != after.get(path):
            word = "added" if path not in before else "removed" if path not in after else "changed"
            yield FileChange(path, word, tuple(sorted(names)))


def _touched(install: Install) -> defaultdict[str, set[str]]:
    """The capabilities that each file has a part in: by evidence, by a near miss, or by a call path through it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for verdict in install.verdicts:
        members = [each for member in verdict.members for each in member.evidence]
        for each in (*verdict.evidence, *verdict.nearest, *members):
            found[each.path].add(verdict.capability)
    for path in install.paths:
        for hop in path.hops:
            found[hop.path].add(path.capability)
    return found
