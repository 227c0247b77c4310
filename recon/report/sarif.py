"""SARIF 2.1.0: one run whose results are the policies that failed, and nothing else.

Viewers and code scanning take every result for a fault, so answers without a policy are no results; a run in which
nothing failed has none. Source: the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import quote

from recon.records.install import Install
from recon.records.policy import PolicyFailure
from recon.report.findings import Finding, Place
from recon.report.format import Format
from recon.report.text import visible
from recon.report.view import View

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json]"

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "recon/v1"
"""Name of the fingerprints below; what goes into them changes with the name alone."""


def render(view: View) -> str:
    """The log, indented, with a newline at its end."""
    return json.dumps(_log(view), indent=1) + "\n"


def _log(view: View) -> Json:
    rules = list(dict.fromkeys(_rule_of(each) for each in view.failures))
    run: dict[str, Json] = {
        "tool": {
            "driver": {
                "name": "recon",
                "version": visible(view.run.recon_version),
                "rules": [_rule(view, each) for each in rules],
            }
        },
        "invocations": [_invocation(view)],
        "columnKind": "unicodeCodePoints",
        "results": list(_results(view, rules)),
        "properties": {"decision": visible(view.lead), "counts": view.counts},
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule_of(failure: PolicyFailure) -> str:
    return visible(failure.capability) or "policy"


def _rule(view: View, rule: str) -> Json:
    finding = next((each for each in view.findings if visible(each.capability) == rule), None)
    made: dict[str, Json] = {"id": rule, "defaultConfiguration": {"level": "error"}}
    if finding is not None:
        made["shortDescription"] = {"text": visible(finding.title)}
        if finding.help:
            made["fullDescription"] = {"text": visible(finding.help, keep="\n")}
    return made


def _invocation(view: View) -> Json:
    made: dict[str, Json] = {"executionSuccessful": view.complete}
    if moment := _moment(view.run.started_at):
        made["startTimeUtc"] = moment
    return made


def _moment(said: str) -> str:
    """A moment as SARIF writes it; '' where a run file holds something else."""
    try:
        return datetime.fromisoformat(said).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return ""


def _results(view: View, rules: list[str]) -> Iterator[Json]:
    installs = {each.id: each for each in view.run.installs}
    findings = {(each.install, each.capability): each for each in view.findings}
    seen: Counter[str] = Counter()
    for failure in view.failures:
        print_ = _fingerprint(failure, installs)
        seen[print_] += 1
        finding = findings.get((failure.install, failure.capability))
        made: dict[str, Json] = {
            "ruleId": _rule_of(failure),
            "ruleIndex": rules.index(_rule_of(failure)),
            "kind": "fail",
            "level": "error",
            "message": {"text": visible(failure.message) or _rule_of(failure)},
            "partialFingerprints": {FINGERPRINT: f"{print_}:{seen[print_]}"},
            "properties": _properties(failure, finding),
        }
        if location := _location(finding, installs.get(failure.install)):
            made["locations"] = [location]
        yield made


def _fingerprint(failure: PolicyFailure, installs: Mapping[str, Install]) -> str:
    """Equal for one demand on one tree at one place, whatever its version, its lines or the wording.

    Two trees of an engine in one place, such as two releases, are told apart by their order, which is added to it.
    """
    install = installs.get(failure.install)
    where = ("", "", "")
    if install is not None:
        place = "" if install.provenance.kind == "release" else install.location
        where = (install.engine.value, install.host, place)
    words = json.dumps([failure.rule, failure.capability, *where])
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def _properties(failure: PolicyFailure, finding: Finding | None) -> Json:
    standing = failure.standing.value if failure.standing else ""
    told = {
        "policy": failure.rule,
        "demand": failure.demand,
        "standing": standing,
        "install": failure.install,
        "host": finding.host if finding else "",
    }
    return {name: visible(value) for name, value in told.items() if value}


def _location(finding: Finding | None, install: Install | None) -> Json:
    """The best place, else the nearest, else the folder of the package; nothing where no tree is at fault.

    Code scanning takes no result without a place.
    """
    place = finding.speaks if finding else None
    if place is None:
        return {"physicalLocation": {"artifactLocation": {"uri": f"{_uri(install.engine.value)}/"}}} if install else {}
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.path)},
            "region": {"startLine": max(place.line, 1)},
        },
        "logicalLocations": [_symbol(place)],
    }


def _symbol(place: Place) -> Json:
    return {"fullyQualifiedName": visible(place.symbol), "kind": "function"}


def _uri(path: str) -> str:
    """A path as a relative reference: nothing in it can name a scheme, a host or a query."""
    named = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    rest = named.lstrip("/")
    return "%2F" * (len(named) - len(rest)) + rest


FORMAT = Format("sarif", "application/sarif+json", render)
