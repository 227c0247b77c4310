"""The paste that maintainers of an engine ask for: versions, machine, and the verdicts in question; no host, no user.

Only what is listed here is told, of a run whose hosts, users and cards are renamed first: no folder, no host name, no
command line. An engine's own paths and symbols stay, since they are what is spoken about.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from recon.records.install import Install
from recon.records.run import Run
from recon.records.verdict import Standing
from recon.report.findings import Finding, label_of
from recon.report.markdown import MOST, place_words, words
from recon.report.marked import cell, code, table
from recon.report.numbers import count, size
from recon.report.redacted import redacted
from recon.report.view import View, compose, edits_words

_ASKED = (Standing.ABSENT, Standing.PARTIAL, Standing.UNKNOWN)


def issue(view: View, about: Sequence[str] = ()) -> str:
    """The paste, in Markdown.

    Args:
        view: What was learned.
        about: Patterns of capabilities, as `accept.*`; where there are none, all that an engine is not told to have.
    """
    run, _, _ = redacted(view.run, ())
    shown = compose(run, (), datetime.min.replace(tzinfo=UTC))
    machine = [*_machine(shown), *_measured(shown)]
    parts = [list(_versions(shown)), machine, list(_verdicts(shown, about)), list(_seen(shown))]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def concerned(view: View, about: Sequence[str]) -> list[Finding]:
    """The verdicts that a paste is about, those of engines alone unless patterns name others."""
    if about:
        return [each for each in view.findings if any(fnmatchcase(each.capability, pattern) for pattern in about)]
    engines = {each.id for each in view.run.installs if not each.engine.is_companion}
    return [each for each in view.findings if each.install in engines and each.standing in _ASKED]


def _versions(view: View) -> Iterator[str]:
    yield "### Versions"
    yield ""
    yield f"- recon {words(view.run.recon_version)}"
    for install in view.run.installs:
        yield f"- {words(label_of(install))} ({_origin(view.run, install)}): {words(edits_words(install.edits))}"
        changed = (*install.edits.modified, *install.edits.added, *install.edits.missing)
        if changed:
            more = f" and {count(len(changed) - MOST)} more" if len(changed) > MOST else ""
            yield f"    - {', '.join(map(code, changed[:MOST]))}{more}"


def _origin(run: Run, install: Install) -> str:
    known = [each for host in run.hosts for each in host.environments if each.prefix == install.provenance.environment]
    parts = [install.provenance.kind]
    if install.provenance.installer:
        parts.append(f"by {install.provenance.installer}")
    parts += [f"Python {each.version} in {each.kind}" for each in known[:1] if each.version]
    return words(", ".join(parts))


def _machine(view: View) -> Iterator[str]:
    yield "### Machine"
    yield ""
    for host in view.run.hosts:
        gpus = Counter((each.name, each.capability, each.memory_bytes, each.driver) for each in host.gpus)
        told = [
            f"{number} x {name} (sm_{major}{minor}, {size(memory)}, driver {driver})"
            for (name, (major, minor), memory, driver), number in gpus.items()
        ]
        yield f"- {words(host.platform or 'platform not known')}; {words(', '.join(told) or 'no GPU was seen')}"


def _measured(view: View) -> Iterator[str]:
    devices = dict.fromkeys(each.device for each in view.run.measurements if each.device and each.mode == "gpu")
    told = dict.fromkeys(
        f"- {words(each.name)}: driver {words(each.driver)}, CUDA {words(each.cuda)}, torch {words(each.torch)},"
        f" triton {words(each.triton)}, Python {words(each.python)}"
        for each in devices
    )
    yield from told or ("- torch and triton: not known, since nothing was timed (`recon probe-kernels`)",)
    wrong = [each for group in view.timings for each in group.timings if each.disagrees]
    yield from (f"- {cell(each.kernel)} {words(each.check)}" for each in wrong[:MOST])


def _verdicts(view: View, about: Sequence[str]) -> Iterator[str]:
    found = concerned(view, about)
    yield f"### Verdicts: {len(found)}"
    yield ""
    if not found:
        yield "None is in question: every engine is told to have what was asked about."
        return
    yield from table(
        ("Capability", "Tree", "Answer", "Place", "In", "Why"),
        (
            (cell(each.capability), words(each.label), words(each.answer), place_words(each), _symbol(each), _why(each))
            for each in found
        ),
    )


def _symbol(finding: Finding) -> str:
    return cell(finding.speaks.symbol) if finding.speaks else ""


def _why(finding: Finding) -> str:
    gates = "".join(f" Not where {words(gate).removesuffix('.')}." for gate in finding.gates[:1])
    searched = f" {words(finding.searched)}." if finding.standing is Standing.ABSENT else ""
    assuming = f" Assuming {words(finding.assuming)}." if finding.assuming else ""
    own = f" {words(finding.own_word)}." if finding.own_word else ""
    return f"{words(finding.reason)}{own}{assuming}{gates}{searched}"


def _seen(view: View) -> Iterator[str]:
    contrary = [each for each in view.behaviours if each.contradicts]
    if contrary:
        yield "### Seen when called, against what the source was read to be"
        yield ""
    for each in contrary:
        yield f"- {cell(each.place)}: {words(each.rules)}; {words(each.verdicts)}; {words(each.how)}"
