"""The JSON Schema of a run file, derived from the records."""

import msgspec

from recon.records.difference import RunDifference
from recon.records.gap import GapReport
from recon.records.run import SCHEMA_VERSION, Run


def schema() -> dict[str, object]:
    """JSON Schema (draft 2020-12) that every run file of this schema version satisfies.

    What other commands print is described beside it, under `$defs`: GapReport is that of `recon gap --json`,
    RunDifference that of `recon diff --json`.
    """
    told = (Run, GapReport, RunDifference)
    (run, *_), definitions = msgspec.json.schema_components(told, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"recon run file, schema version {SCHEMA_VERSION}",
        **run,
        "$defs": definitions,
    }
