"""Companions settle what an engine leaves open."""

from dataclasses import replace

from recon.records.evidence import Evidence, Grade
from recon.records.findings import Findings, Outside
from recon.records.install import Edits, Engine, Install, Provenance
from recon.records.unknown import PACKAGE, Unknown
from recon.records.verdict import Reach, Searched, Standing, Verdict
from recon.verdicts.companions import settle
from recon.verdicts.judge import judge

NOTHING = Searched(1, 2, 0, 1, 0, ("a walk",), ())
LIBRARY = Unknown("compiled library", "e/_C.abi3.so", "it was not asked for")
CALL = Evidence(
    "e/a.py", "accept", 9, Grade.DECLARED, ("worker EAGLE",), "calls k.verify, which another distribution defines"
)
PLACE = Evidence("k/spec.py", "verify", 38, Grade.SHAPED, (), "calls torch.ops.k.verify")


def verdict(findings: Findings, *unread: Unknown) -> Verdict:
    """The verdict on one capability."""
    return judge("accept.tree.greedy", "Greedy acceptance", findings, replace(NOTHING, unread=unread))


def install(name: str, engine: Engine, judged: Verdict, *companions: str) -> Install:
    """An install with one verdict."""
    provenance = Provenance("folder", "", "", "", "", "")
    return Install(
        id=name,
        host="here",
        engine=engine,
        version="1",
        location="/t",
        source_digest=name,
        provenance=provenance,
        companions=companions,
        edits=Edits(0, (), (), ()),
        verdicts=(judged,),
        paths=(),
        excerpts=(),
    )


def engine(*names: str, unread: tuple[Unknown, ...] = (), companions: tuple[str, ...] = ("kernel",)) -> Install:
    """An engine that calls functions of other distributions."""
    judged = verdict(Findings(external=Outside(names or ("k.verify",), (CALL,))), *unread)
    return install("engine", Engine.SGLANG, judged, *companions)


def kernel(findings: Findings, *unread: Unknown) -> Install:
    """A kernel package."""
    return install("kernel", Engine.SGL_KERNEL, verdict(findings, *unread))


def settled(one: Install, *others: Install) -> Verdict:
    """The engine's verdict beside its companions; the kernel package brings the package `k`."""
    packages = {Engine.SGLANG: "e", Engine.SGL_KERNEL: "k", Engine.FLASHINFER: "f"}
    return settle((one, *others), lambda each: packages[each.engine])[0].verdicts[0]


def test_what_a_companion_has_the_engine_that_calls_it_has() -> None:
    """The call is the evidence, and its note names the companion's place."""
    found = settled(engine(), kernel(Findings((PLACE,))))

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert (replace(CALL, note="calls k.verify, judged at k/spec.py:38 of kernel"),) == found.evidence
    assert () == found.nearest
    assert found.reason.startswith("Calls k.verify, which kernel beside it has: calls torch.ops.k.verify")


def test_what_a_companion_has_in_part_the_engine_has_in_part() -> None:
    """It adds nothing."""
    assert Standing.PARTIAL is settled(engine(), kernel(Findings((PLACE,), lacks="No residual."))).standing


def test_what_a_companion_lacks_the_engine_lacks() -> None:
    """And the reason says so."""
    found = settled(engine(), kernel(Findings(reason="Only a wrapper is left.")))

    assert (Standing.ABSENT, None) == (found.standing, found.reach)
    assert "Calls k.verify, which kernel beside it lacks: only a wrapper is left." == found.reason
    assert (CALL,) == found.nearest
    assert () == found.searched.unread


def test_another_function_of_the_companion_decides_nothing_for_this_one() -> None:
    """It may have the capability by a function that this engine never calls."""
    other = replace(PLACE, symbol="other")
    found = settled(engine(), kernel(Findings((other,))))

    assert Standing.UNKNOWN is found.standing
    assert "which kernel beside it is not judged to have" in found.reason


def test_nothing_is_absent_while_the_engine_itself_is_unread() -> None:
    """Its own library could hold what the companion lacks."""
    found = settled(engine(unread=(LIBRARY,)), kernel(Findings()))

    assert Standing.UNKNOWN is found.standing
    assert (LIBRARY,) == found.searched.unread


def test_nothing_is_absent_while_another_function_is_unsettled() -> None:
    """It lies in a package that was not scanned."""
    found = settled(engine("k.verify", "f.verify"), kernel(Findings()))

    assert Standing.UNKNOWN is found.standing
    assert (Unknown(PACKAGE, "f.verify", "it was not scanned"),) == found.searched.unread


def test_a_companion_that_cannot_tell_settles_nothing() -> None:
    """Its libraries were not read."""
    found = settled(engine(), kernel(Findings(), LIBRARY))

    assert Standing.UNKNOWN is found.standing
    assert "which kernel beside it is not judged to have" in found.reason


def test_a_kernel_package_that_is_no_companion_settles_nothing() -> None:
    """It lies in another environment."""
    one = engine(companions=())

    assert one.verdicts[0] == settled(one, kernel(Findings((PLACE,))))


def test_a_companion_of_another_package_settles_nothing() -> None:
    """The function is not its own."""
    other = replace(kernel(Findings((PLACE,))), engine=Engine.FLASHINFER)
    one = engine()

    assert one.verdicts[0] == settled(one, other)


def test_what_the_engine_has_itself_stays() -> None:
    """Nothing was open."""
    own = replace(engine(), verdicts=(verdict(Findings((PLACE,), external=Outside(("k.verify",), (CALL,)))),))

    assert own.verdicts[0] == settled(own, kernel(Findings()))
