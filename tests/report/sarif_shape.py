"""What SARIF 2.1.0 demands of the parts that recon writes, as a JSON Schema of our own: anything else is refused.

Written from the text of the OASIS standard, and stricter than its own schema: parts that recon does not write are no
parts, and what code scanning asks for besides (a place of every result of a tree) is asked for.
"""

from typing import Any


def _record(needed: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(needed),
        "properties": needed | others,
    }


TEXT = {
    "type": "string",
    "minLength": 1,
    "pattern": "^[^\\u0000-\\u0009\\u000b-\\u001f\\u202a-\\u202e\\u2066-\\u2069]*$",
}
MESSAGE = _record({"text": TEXT})
BAG = {"type": "object", "additionalProperties": {"type": "string"}}
ARTIFACT = _record({"uri": {"type": "string", "pattern": "^[A-Za-z0-9_.~%-][A-Za-z0-9_.~/%-]*$"}})
PLACE = _record({"artifactLocation": ARTIFACT}, region=_record({"startLine": {"type": "integer", "minimum": 1}}))
LOCATION = _record(
    {"physicalLocation": PLACE},
    logicalLocations={"type": "array", "items": _record({"fullyQualifiedName": TEXT, "kind": {"const": "function"}})},
)
RULE = _record(
    {"id": TEXT, "defaultConfiguration": _record({"level": {"const": "error"}})},
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
)
RESULT = _record(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "kind": {"const": "fail"},
        "level": {"const": "error"},
        "message": MESSAGE,
        "partialFingerprints": _record({"recon/v1": {"type": "string", "pattern": "^[0-9a-f]{32}:[0-9]+$"}}),
        "properties": BAG,
    },
    locations={"type": "array", "minItems": 1, "maxItems": 1, "items": LOCATION},
)
DRIVER = _record(
    {"name": {"const": "recon"}, "version": TEXT, "rules": {"type": "array", "uniqueItems": True, "items": RULE}}
)
INVOCATION = _record(
    {"executionSuccessful": {"type": "boolean"}},
    startTimeUtc={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
)
RUN = _record(
    {
        "tool": _record({"driver": DRIVER}),
        "invocations": {"type": "array", "minItems": 1, "maxItems": 1, "items": INVOCATION},
        "columnKind": {"const": "unicodeCodePoints"},
        "results": {"type": "array", "items": RESULT},
        "properties": BAG,
    }
)
LOG = _record(
    {
        "$schema": {"type": "string", "pattern": "sarif-schema-2[.]1[.]0[.]json$"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": RUN},
    }
)
