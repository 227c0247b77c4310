"""Runs made by hand: one that looks like a real scan, one like a real probe, and one full of hostile text."""

from dataclasses import replace
from typing import Any

from recon.estimates.decision import decide
from recon.records.evidence import Evidence, Grade
from recon.records.host import Gpu, Host, PythonEnv
from recon.records.install import Edits, Engine, Excerpt, Install, Provenance
from recon.records.measurement import Agreement, Device, Floor, Measurement, Resources, Spread
from recon.records.path import CallPath, Hop, Tier
from recon.records.run import SCHEMA_VERSION, Run, Searched
from recon.records.unknown import Unknown
from recon.records.verdict import Capability, Gate, Member, Reach, Standing, Verdict
from recon.records.verdict import Searched as Proof

H200 = Gpu(0, "GPU-5f1c", "NVIDIA H200", (9, 0), 150_754_820_096, "570.124.06")
HOST = Host(
    id="3c0ffee0c0ffee",
    name="localhost",
    platform="Linux 6.1.0 x86_64",
    gpus=(H200,),
    environments=(PythonEnv("/opt/ml-env", "venv", "3.12", ("/opt/ml-env/lib/python3.12/site-packages",)),),
)
DEVICE = Device(
    H200.name, H200.uuid, (9, 0), H200.memory_bytes, 62_914_560, H200.driver, "2.13.0", "3.6.0", "3.12.3", "12.8"
)

TITLES = {
    "accept.linear.greedy": "Greedy acceptance along a chain",
    "accept.tree.greedy": "Greedy acceptance over a tree",
    "attn.tree.verify": "Tree mask in the target's attention",
    "drafter.dflash": "DFlash drafter",
    "kv.path_compact": "KV of the accepted path kept",
    "pos.tree": "Positions by depth of the tree",
    "state.tree": "Recurrent state per tree node",
    "tree.build.dynamic": "Tree built from draft scores",
}
CAPABILITIES = tuple(Capability(key, title, f"What it is\n    {title}.") for key, title in TITLES.items())


def proof(examined: int = 12, unread: tuple[Unknown, ...] = ()) -> Proof:
    return Proof(1723, 40012, 312, examined, 9, ("a walk that compares each child with the target's token",), unread)


def evidence(
    path: str,
    line: int,
    grade: Grade = Grade.SHAPED,
    symbol: str = "verify",
    scope: tuple[str, ...] = (),
    note: str = "Compares each draft with the target.",
) -> Evidence:
    return Evidence(path, symbol, line, grade, scope, note)


def verdict(capability: str, standing: Standing, reach: Reach | None = None, **fields: Any) -> Verdict:
    defaults: dict[str, Any] = {
        "reason": "Its form was found.",
        "evidence": (),
        "nearest": (),
        "searched": proof(),
        "gates": (),
        "members": (),
    }
    return Verdict(capability=capability, standing=standing, reach=reach, **{**defaults, **fields})


def vllm_verdicts() -> tuple[Verdict, ...]:
    near = evidence("vllm/v1/sample/rejection_sampler.py", 695, Grade.NAMED, note="A chain: it never takes a branch.")
    return (
        verdict(
            "accept.linear.greedy",
            Standing.PRESENT,
            Reach.WIRED,
            evidence=(
                evidence(
                    "vllm/v1/sample/rejection_sampler.py",
                    640,
                    symbol="rejection_greedy_sample_kernel",
                    scope=("runner V1", "method dflash"),
                ),
            ),
            gates=(Gate("sampling_metadata.all_greedy", "vllm/v1/sample/rejection_sampler.py", 120),),
        ),
        verdict(
            "accept.tree.greedy",
            Standing.ABSENT,
            reason="No function walks a tree of drafts.",
            nearest=(near,),
            searched=proof(412),
        ),
        verdict(
            "attn.tree.verify",
            Standing.PARTIAL,
            Reach.DEFINED,
            reason="One fixed bias serves the whole batch; positions and acceptance stay a chain.",
            evidence=(evidence("vllm/v1/attention/backends/tree_attn.py", 214, symbol="TreeAttentionBackend.build"),),
            members=(
                Member("TREE_ATTN", Standing.PARTIAL, Reach.DEFINED, "A bias.", (), ()),
                Member("FLASH_ATTN", Standing.ABSENT, None, "No mask argument.", (), ()),
            ),
        ),
        verdict(
            "drafter.dflash",
            Standing.PRESENT,
            Reach.ENABLED,
            evidence=(evidence("vllm/v1/spec_decode/dflash.py", 20, Grade.DECLARED, "DFlashProposer"),),
        ),
        verdict(
            "kv.path_compact", Standing.ABSENT, reason="Only the length is lowered.", nearest=(), searched=proof(31)
        ),
        verdict("pos.tree", Standing.ABSENT, reason="Target positions are linear.", nearest=(near,)),
        verdict(
            "state.tree",
            Standing.UNKNOWN,
            reason="The kernel lies in a compiled library whose symbols were not read.",
            nearest=(near,),
            searched=proof(7, (Unknown("symbols", "vllm/_C.abi3.so", "the library was not asked for"),)),
        ),
        verdict("tree.build.dynamic", Standing.ABSENT, reason="The topology is a setting.", nearest=(near,)),
    )


def sglang_verdicts() -> tuple[Verdict, ...]:
    walk = evidence(
        "sglang/kernels/ops/speculative/spec_tree.py",
        480,
        symbol="verify_tree_greedy_kernel",
        scope=("worker EAGLE",),
        note="Follows first child and next sibling.",
    )
    made = [
        verdict(capability, Standing.PRESENT, Reach.WIRED, evidence=(walk,))
        for capability in TITLES
        if capability != "state.tree"
    ]
    partial = verdict("state.tree", Standing.PARTIAL, Reach.WIRED, reason="On Triton only.", evidence=(walk,))
    return tuple(sorted((*made, partial), key=lambda each: each.capability))


def install(name: str, engine: Engine, version: str, verdicts: tuple[Verdict, ...], **fields: Any) -> Install:
    defaults: dict[str, Any] = {
        "host": HOST.id,
        "location": f"/opt/ml-env/lib/python3.12/site-packages/{engine.value}",
        "source_digest": "3f2a91",
        "provenance": Provenance("wheel", "/opt/ml-env", "uv", "", "", ""),
        "companions": (),
        "edits": Edits(1900, (), (), ()),
        "paths": (),
        "excerpts": (),
    }
    return Install(id=name, engine=engine, version=version, verdicts=verdicts, **{**defaults, **fields})


def scan() -> Run:
    """A scan of one host with two engines and a kernel package."""
    excerpt = Excerpt(
        "vllm/v1/sample/rejection_sampler.py",
        638,
        "    for pos in range(num_draft_tokens):\n        if not rejected:\n"
        "            draft = tl.load(draft_ptr + start + pos)\n"
        "            target = tl.load(argmax_ptr + start + pos)\n"
        "            rejected = draft != target",
    )
    hops = (
        Hop("vllm/v1/engine/core.py", "EngineCore.step", 310, "method", Tier.CERTAIN),
        Hop("vllm/v1/worker/gpu_model_runner.py", "GPUModelRunner._sample", 1450, "method", Tier.LIKELY),
        Hop("vllm/v1/sample/rejection_sampler.py", "rejection_greedy_sample_kernel", 640, "", Tier.CERTAIN),
    )
    installs = (
        install(
            "flashinfer-0.7.2-11",
            Engine.FLASHINFER,
            "0.7.2",
            (verdict("accept.tree.greedy", Standing.NOT_APPLICABLE, reason="A kernel package."),),
        ),
        install(
            "vllm-0.20.1-3f2a91",
            Engine.VLLM,
            "0.20.1",
            vllm_verdicts(),
            companions=("flashinfer-0.7.2-11",),
            edits=Edits(1900, ("vllm/v1/spec_decode/dflash.py",), (), ()),
            paths=(
                CallPath("accept.linear.greedy", hops, ("runner V1",)),
                CallPath("accept.linear.greedy", hops[:1] + hops[2:], ("runner V2 by environment",)),
            ),
            excerpts=(excerpt,),
        ),
        install("sglang-0.5.23-77aa00", Engine.SGLANG, "0.5.23", sglang_verdicts()),
    )
    return Run(
        schema_version=SCHEMA_VERSION,
        recon_version="0.1.0",
        command=("recon", "scan"),
        started_at="2026-11-30T10:15:00Z",
        hosts=(HOST,),
        installs=installs,
        measurements=(),
        estimates=decide(installs, (HOST,), ()),
        capabilities=CAPABILITIES,
        unknowns=(Unknown("python source", "vllm/broken.py", "the file is not valid Python"),),
        searched=(
            Searched("vllm-0.20.1-3f2a91", 1674, 49, 40012, 6120, 312, 9, 1, 41.5),
            Searched("sglang-0.5.23-77aa00", 2011, 311, 51044, 7300, 801, 0, 0, 52.25),
            Searched("flashinfer-0.7.2-11", 300, 240, 9000, 800, 400, 0, 0, 9.0),
        ),
        complete=True,
    )


def measurement(
    kernel: str,
    role: str,
    median: float,
    *,
    mode: str = "gpu",
    device: Device | None = DEVICE,
    mismatches: int = 0,
    case: dict[str, int | float | str] | None = None,
    resources: tuple[Resources, ...] = (),
) -> Measurement:
    timed = mode == "gpu" and not mismatches
    spread = Spread(median, median * 0.99, median * 1.02, median * 0.97, median * 1.05, 200)
    return Measurement(
        probe="linear-vs-tree",
        kernel=kernel,
        case=case or {"batch": 1, "nodes": 64, "vocab": 151936, "dtype": "bf16"},
        role=role,
        mode=mode,
        agreement=Agreement(12, mismatches, "row 3: 4 accepted, the reference accepts 5" if mismatches else "exact"),
        spread=spread if timed else None,
        samples_us=(median,) if timed else (),
        bytes_moved=19_447_808,
        floor=Floor(4.2, "memory", "19.4 MB over 4.63 TB/s") if mode == "gpu" else None,
        resources=resources,
        config={"block": 8192},
        method="cuda graph of 16 calls, 24 rotating inputs" if mode == "gpu" else "",
        device=device,
        before=None,
        after=None,
        key=f"{kernel}-{median}-{mode}",
    )


def probe(device: Device = DEVICE, host: Host = HOST) -> Run:
    """A probe of one GPU: two kernels timed, one that disagrees, one that was only built."""
    spilling = Resources("sm_120", 255, 106_496, 0, 640, 708, 101_376, fits=False)
    measurements = (
        measurement("linear_verify", "baseline", 8.6, device=device),
        measurement("tree_verify", "subject", 10.4, device=device),
        measurement("tree_verify_lazy", "subject", 5.0, device=device, mismatches=2),
        measurement("tree_verify", "subject", 0.0, mode="compile", device=None, resources=(spilling,)),
        measurement("tree_verify", "subject", 0.0, mode="interpret", device=replace(DEVICE, name="interpreter")),
    )
    return Run(
        schema_version=SCHEMA_VERSION,
        recon_version="0.1.0",
        command=("recon", "probe-kernels", "--quick"),
        started_at="2026-11-30T11:20:00Z",
        hosts=(host,),
        installs=(),
        measurements=measurements,
        estimates=decide((), (host,), measurements),
        capabilities=(),
        unknowns=(),
        searched=(),
        complete=True,
    )


EVIL = (
    "\x1b[31mred\x1b]8;;http://x\x07 \u202egnp.exe\u2066 </script><script>alert(1)</script>"
    " <img src=x onerror=y>\x00\r\n"
)


def hostile() -> Run:
    """A scan in which every text that a tree or a host can choose is an attack."""
    run = scan()
    long = "very_" * 60 + "long"
    bad = verdict(
        f"accept.{EVIL}",
        Standing.PARTIAL,
        Reach.WIRED,
        reason=EVIL,
        evidence=(evidence(f"{EVIL}/{long}.py", 7, symbol=EVIL, scope=(EVIL,), note=EVIL),),
        nearest=(evidence("数" * 90 + ".py", 9, note=EVIL),),
        searched=Proof(1, 1, 1, 1, 1, (EVIL,), (Unknown(EVIL, EVIL, EVIL),)),
        gates=(Gate(EVIL, EVIL, 3),),
        members=(Member(EVIL, Standing.ABSENT, None, EVIL, (evidence(EVIL, 1),), (Gate(EVIL, EVIL, 3),)),),
    )
    excerpt = Excerpt(f"{EVIL}/{long}.py", 6, f"a\n{EVIL.strip()}\n" + "x" * 4000 + "\n" * 9)
    other = install(
        EVIL,
        Engine.OTHER,
        EVIL,
        (bad, replace(bad, capability=long, standing=Standing.ABSENT, evidence=())),
        location=EVIL,
        provenance=Provenance("checkout", EVIL, EVIL, EVIL, EVIL, EVIL),
        excerpts=(excerpt,),
        paths=(CallPath(f"accept.{EVIL}", (Hop(EVIL, EVIL, 1, EVIL, Tier.GUESS),)),),
    )
    host = Host(HOST.id, EVIL, EVIL, (replace(H200, name=EVIL, driver=EVIL),), (PythonEnv(EVIL, EVIL, EVIL, (EVIL,)),))
    timed = measurement(EVIL, "subject", 5.0, device=replace(DEVICE, name=EVIL), case={EVIL: EVIL})
    installs = (other, *run.installs)
    return replace(
        run,
        command=(EVIL,),
        started_at=EVIL,
        hosts=(host,),
        installs=installs,
        measurements=(timed,),
        estimates=decide(installs, (host,), (timed,)),
        capabilities=(Capability(f"accept.{EVIL}", EVIL, EVIL),),
        unknowns=(Unknown(EVIL, EVIL, EVIL),),
    )
