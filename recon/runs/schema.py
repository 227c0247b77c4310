"""The JSON Schema of a run file, derived from the records."""

import msgspec

from recon.records.run import SCHEMA_VERSION, Run


def schema() -> dict[str, object]:
    """JSON Schema (draft 2020-12) that every run file of this schema version satisfies."""
    described = msgspec.json.schema(Run)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"recon run file, schema version {SCHEMA_VERSION}",
        **described,
    }
