"""What a probe would do, for a person or as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recon.probing import Journey


def shown(made: "Journey", host: str, *, as_json: bool) -> str:
    """Everything that would be asked, written and run."""
    if as_json:
        import msgspec

        return msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n"
    return "\n".join(part.rstrip("\n") + "\n" for part in _parts(made, host))


def _parts(made: "Journey", host: str) -> "Iterator[str]":
    from recon.report.numbers import size
    from recon.report.text import visible

    where = visible(host) if host else "This machine"
    how = f"this command line and no other:\n    {made.line}" if made.line else "sh"
    yield f"{where} would be asked to run {how}\nwith the scripts below on its standard input. Nothing was done yet."
    yield (
        f"Plan {made.digest}. Words between @ are put in when the answers before are known; @NONCE@ is random, and a"
        " digest stands for the file below that has it."
    )
    plan = made.plan
    yield (
        f"Then {len(made.files)} files would be written, {size(sum(each.size_bytes for each in made.files))}, into a"
        f" private folder that is removed at the end; {size(made.sent_bytes)} would be sent. The first of"
        " $XDG_RUNTIME_DIR, /dev/shm, $TMPDIR and the home folder is taken in which a program can be run.\n"
        f"{_limits(made)}"
    )
    if made.scans:
        asks = f"`recon scan --host {where} --plan` prints what this asks of it.\n" if host in made.scans else ""
        yield (
            f"Before that, engines are scanned, of: {', '.join(map(visible, made.scans))}.\n{asks}"
            "Functions that verdicts about acceptance rest on, known only then, are cut out on this machine, sent with"
            " the same files as one more plan, and RUN there, in processes of their own under the same Python; those"
            " that follow a rule are sent and run again, and timed, at the end."
        )
    yield "=== what would be measured\n" + "\n".join(
        f"{entry.id:4} {entry.role:8} {entry.kernel}{'.' * bool(entry.variant)}{entry.variant}"
        f" {' '.join(f'{name}={value}' for name, value in entry.axes.items())}".rstrip()
        for entry in plan.entries
    )
    yield "=== files\n" + "\n".join(f"{each.size_bytes:8} {each.sha256} {each.name}" for each in made.files)
    if made.wrapper:
        yield f"=== around the script that runs the payload (@SCRIPT@)\n{made.wrapper}"
        yield f"=== before each script that asks\n{made.prelude}"
    for number, step in enumerate(made.steps, 1):
        yield f"=== {number}. {step.what}\n{step.script}"
    yield f"=== {len(made.steps) + 1}. the payload: written, run, removed\n{made.script}"


def _limits(made: "Journey") -> str:
    from recon.report.numbers import size

    plan = made.plan
    if plan.mode != "gpu":
        how = "in Triton's interpreter, on the CPU" if plan.mode == "interpret" else "by the compiler; nothing is run"
        return f"Kernels are looked at {how}. No GPU is touched. No kernel is begun after {plan.deadline_s:.0f} s."
    share = f"at most {plan.memory_fraction:.0%} of the memory that is free"
    cap = f", and no more than {size(plan.memory_limit_bytes)}" if plan.memory_limit_bytes < 1 << 50 else ""
    busy = "whoever uses it" if plan.allow_busy else "if nobody else uses it and it is in no mode of its own"
    without = f"\n{made.left_out} cases are left out: each takes more memory than that." * bool(made.left_out)
    return (
        f"GPU {plan.gpu or '0, or the first that is visible'} is used {busy}: {share}{cap};"
        f" {plan.device_limit_s:.0f} s of its time, {plan.deadline_s:.0f} s in all."
        f" None of its settings is changed.{without}"
    )
