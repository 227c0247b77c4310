"""SARIF: its results are the policies that failed, and every log is one by the schema that OASIS publishes."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from recon.report import html, markdown, sarif
from recon.report.view import View
from tests.report.hand import scan
from tests.report.sarif_schema import FORMATS, SCHEMA, results_of, validator
from tests.report.views import both_view, failed_view, hostile_view, scan_view, view_of
from tests.report.whole import whole_view


def empty_view() -> View:
    return view_of(replace(scan(), installs=()))


VIEWS = {
    "scan": scan_view,
    "both": both_view,
    "failed": failed_view,
    "hostile": hostile_view,
    "whole": whole_view,
    "empty": empty_view,
}


def results(view: View) -> list[dict[str, Any]]:
    return results_of(sarif.render(view))


@pytest.mark.parametrize("name", VIEWS)
def test_results_are_the_policies_that_failed_and_the_log_is_sarif(name: str) -> None:
    view = VIEWS[name]()
    made = results(view)
    heading = f"Policies that failed: {len(view.failures)}"

    assert [each.demand for each in view.failures if each.demand.isascii() and each.demand.isprintable()] == [
        each["properties"]["demand"] for each in made if "\\x" not in each["properties"]["demand"]
    ]
    assert len(view.failures) == len(made)
    assert (f"\n## {heading}\n" in markdown.render(view)) is bool(view.failures)
    assert (f"<h3>{heading}</h3>" in html.render(view)) is bool(view.failures)


def test_the_run_that_holds_everything_fails_policies_of_all_kinds() -> None:
    """So that what is looked at above is not empty."""
    found = {each["properties"].get("standing") for each in results(whole_view())}

    assert {"absent", "unknown", None} == found


def _result(log: Any) -> Any:
    return log["runs"][0]["results"][0]


BREAKS: dict[str, Callable[[Any], object]] = {
    "another version": lambda log: log.update(version="2.0.0"),
    "no runs": lambda log: log.pop("runs"),
    "no tool": lambda log: log["runs"][0].pop("tool"),
    "a key that is none": lambda log: _result(log).update(severity="high"),
    "a level that is none": lambda log: _result(log).update(level="fatal"),
    "a kind that is none": lambda log: _result(log).update(kind="failed"),
    "a message without text": lambda log: _result(log).update(message={}),
    "a rule before the first": lambda log: _result(log).update(ruleIndex=-2),
    "a line before the first": lambda log: _result(log)["locations"][0]["physicalLocation"]["region"].update(
        startLine=0
    ),
    "no place in a place": lambda log: _result(log)["locations"][0].update(
        physicalLocation={"region": {"startLine": 1}}
    ),
    "an address with a space": lambda log: _result(log)["locations"][0]["physicalLocation"].update(
        artifactLocation={"uri": "a b.py"}
    ),
    "a fingerprint that is no text": lambda log: _result(log).update(partialFingerprints={"recon/v1": 1}),
    "rules that are equal": lambda log: log["runs"][0]["tool"]["driver"].update(rules=[{"id": "a"}, {"id": "a"}]),
    "a moment that is none": lambda log: log["runs"][0]["invocations"][0].update(startTimeUtc="yesterday"),
    "a schema that is no address": lambda log: log.update({"$schema": "sarif"}),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_log_is_refused(name: str) -> None:
    log = json.loads(sarif.render(failed_view()))
    broken = copy.deepcopy(log)
    BREAKS[name](broken)
    validator().validate(log)

    with pytest.raises(jsonschema.ValidationError):
        validator().validate(broken)


def test_every_format_that_the_schema_names_is_checked() -> None:
    """A format of which jsonschema lacks the package would be passed over in silence."""
    assert set(FORMATS) == set(re.findall(r'"format": "([a-z-]+)"', SCHEMA.read_text()))
    assert [] == [name for name in FORMATS if jsonschema.FormatChecker(FORMATS).conforms("a b\x1b", name)]


def test_each_result_has_the_place_of_its_verdict() -> None:
    first, second = results(failed_view())

    assert {"uri": "vllm/v1/sample/rejection_sampler.py"} == first["locations"][0]["physicalLocation"][
        "artifactLocation"
    ]
    assert {"startLine": 695} == first["locations"][0]["physicalLocation"]["region"]
    assert {"artifactLocation": {"uri": "vllm/"}} == second["locations"][0]["physicalLocation"]


def prints(view: View) -> list[str]:
    return [each["partialFingerprints"]["recon/v1"] for each in results(view)]


def test_a_fingerprint_outlives_another_version_other_lines_and_other_words() -> None:
    run = scan()
    vllm = run.installs[1]
    newer = replace(
        vllm,
        id="vllm-0.33.0-aaaaaa",
        version="0.33.0",
        source_digest="other",
        verdicts=tuple(replace(each, nearest=(), reason="Other words.") for each in vllm.verdicts),
    )
    later = replace(run, installs=(run.installs[0], newer, run.installs[2]))
    before = failed_view()
    after = replace(
        view_of(later),
        failures=tuple(replace(each, install=newer.id, message="", demand="other") for each in before.failures),
    )

    assert prints(before) == prints(after)


def test_fingerprints_tell_capabilities_trees_and_kinds_of_demand_apart() -> None:
    base = failed_view()
    first = base.failures[0]
    others = (
        replace(first, capability="pos.tree"),
        replace(first, install=scan().installs[2].id),
        replace(first, rule="require"),
        first,
    )
    made = prints(replace(base, failures=(first, *others)))

    assert len(made) == len(set(made))
    assert made[0].partition(":")[0] == made[-1].partition(":")[0]
