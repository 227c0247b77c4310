"""A plan carried out on this machine, under the Python that runs the tests: it has torch and triton."""

import os
import sys

from recon.hosts.local import LocalShell
from recon.kernels.wire import Plan
from recon.probes.run import ProbeResult, run_plan


def here(plan: Plan) -> ProbeResult:
    """The whole journey: files written, run, removed."""
    return run_plan(plan, LocalShell(environment=dict(os.environ)), (sys.executable,))
