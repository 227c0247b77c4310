"""What a SARIF log is held to: the schema that OASIS publishes, formats checked, and what it cannot say."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parent / "vendored" / "sarif" / "sarif-schema-2.1.0.json"
FORMATS = ("date-time", "uri", "uri-reference")
"""Those that the schema names; each is checked by a package that the tests bring."""
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def validator() -> jsonschema.Draft4Validator:
    """A validator of logs that checks formats, those too that drafts younger than the schema's brought."""
    schema = json.loads(SCHEMA.read_text())
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker(FORMATS))


def results_of(text: str) -> list[dict[str, Any]]:
    """The results of a log, after it was looked at as a whole.

    Raises:
        jsonschema.ValidationError: it is no SARIF.
        AssertionError: it is none that code scanning takes, or a text in it acts instead of showing.
    """
    log = json.loads(text)
    validator().validate(log)
    (run,) = log["runs"]
    results: list[dict[str, Any]] = run["results"]
    for result in results:
        places = [each["physicalLocation"]["artifactLocation"]["uri"] for each in result.get("locations", ())]

        assert ("fail", "error") == (result["kind"], result["level"])
        assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
        assert ("install" in result["properties"]) is (len(places) == 1)
        assert [] == [place for place in places if not re.fullmatch("[A-Za-z0-9_.~%-][A-Za-z0-9_.~/%-]*", place)]
        assert re.fullmatch("[0-9a-f]{32}:[0-9]+", result["partialFingerprints"]["recon/v1"])
    assert [] == [each for each in texts(log) if not each or ACTING.search(each)]
    return results


def texts(value: object) -> Iterator[str]:
    """Every text of a value, keys included."""
    match value:
        case str():
            yield value
        case dict():
            for key, each in value.items():
                yield from (key, *texts(each))
        case list():
            for each in value:
                yield from texts(each)
