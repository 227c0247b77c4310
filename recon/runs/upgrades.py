"""Older run files: one step for each schema version, from the JSON of that version to the JSON of the next."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from recon.errors import Unreadable
from recon.records.run import SCHEMA_VERSION

Step: TypeAlias = Callable[[dict[str, object]], dict[str, object]]
Steps: TypeAlias = Mapping[int, Step]

STEPS: Steps = MappingProxyType({})
"""By the version that a step reads. Version 1 is the first that was published, so there is none yet."""


def upgraded(run: object, version: int, steps: Steps) -> object:
    """JSON of a run, raised step by step from `version` to the current schema version.

    Raises:
        Unreadable: there is no step from some version on the way.
    """
    while version < SCHEMA_VERSION:
        step = steps.get(version)
        if step is None or not isinstance(run, dict):
            raise Unreadable(f"run files of schema version {version} cannot be read", "Scan again.")
        run = step(run)
        version += 1
        run["schema_version"] = version
    return run
