"""The published schema and the files agree."""

import json

import jsonschema
import pytest

from recon.runs.files import encode
from recon.runs.schema import schema
from tests.report.hand import hostile, probe, scan


@pytest.mark.parametrize("make", [scan, probe, hostile])
def test_every_run_satisfies_the_schema(make: object) -> None:
    assert callable(make)
    described = schema()
    jsonschema.Draft202012Validator.check_schema(described)

    jsonschema.validate(json.loads(encode(make())), described)


def test_a_run_that_lacks_a_field_does_not() -> None:
    run = json.loads(encode(scan()))
    del run["installs"][0]["verdicts"][0]["reason"]

    with pytest.raises(jsonschema.ValidationError, match="reason"):
        jsonschema.validate(run, schema())


def test_the_words_of_the_standings_are_in_the_schema() -> None:
    definitions = schema()["$defs"]
    assert isinstance(definitions, dict)

    assert {"present", "partial", "absent", "unknown", "not_applicable"} == set(definitions["Standing"]["enum"])
