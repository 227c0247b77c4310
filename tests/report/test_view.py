"""One view: every format shows the same answers, and a scan and a probe join as they should."""

import json
from dataclasses import replace

import pytest

from recon.errors import NotFound
from recon.estimates.decision import decide
from recon.estimates.knees import knees_of
from recon.records.host import Host
from recon.records.measurement import Burst, Floor, Measurement, Resources, Spread
from recon.records.verdict import Standing
from recon.report import html, json_v1, terminal, tsv
from recon.report.curves import knees_words
from recon.report.format import format_named, formats
from recon.report.join import joined
from recon.report.view import View
from recon.report.words import STANDINGS
from tests.report.hand import DEVICE, H200, HOST, measurement, probe, scan
from tests.report.opened import scripts_of, unpacked, words
from tests.report.views import both_view, scan_view, view_of


def expected_counts() -> dict[Standing, int]:
    made = dict.fromkeys(Standing, 0)
    for install in scan().installs:
        for verdict in install.verdicts:
            made[verdict.standing] += 1
    return made


def test_every_format_shows_the_same_counts() -> None:
    view = scan_view()
    counts = expected_counts()
    rows = [row.split("\t") for row in tsv.render(view).splitlines()]
    page = html.render(view)
    in_page = words(unpacked(scripts_of(page))[0])
    encoded = json.loads(json_v1.render(view))
    in_json = [verdict["standing"] for install in encoded["installs"] for verdict in install["verdicts"]]
    for standing, word in STANDINGS.items():
        said = f"{counts[standing]} {word.text}"

        assert counts[standing] == sum(row[0] == "verdict" and row[4].split(",")[0] == word.text for row in rows)
        assert counts[standing] == in_json.count(standing.value)
        assert counts[standing] == in_page.count(word.text)
        assert said in view.counts
    assert f"In all: {view.counts}." in terminal.screen(view)
    assert f'<p class="counts">{view.counts}</p>' in page


def test_json_is_the_run_file() -> None:
    assert json.loads(json_v1.render(scan_view()))["installs"][1]["id"] == "vllm-0.20.1-3f2a91"


def test_engines_stand_before_the_packages_that_they_call() -> None:
    assert ["vllm 0.20.1", "sglang 0.5.23", "flashinfer 0.7.2"] == [column.label for column in scan_view().columns]


def test_rows_follow_the_order_of_the_headings() -> None:
    assert [
        "accept.linear.greedy",
        "accept.tree.greedy",
        "tree.build.dynamic",
        "attn.tree.verify",
        "pos.tree",
        "kv.path_compact",
        "state.tree",
        "drafter.dflash",
    ] == [row.capability for row in scan_view().rows]


def test_an_excerpt_stands_with_its_place_and_marks_the_line() -> None:
    finding = next(each for each in scan_view().findings if each.capability == "accept.linear.greedy")
    (place,) = finding.places

    assert [638, 639, 640, 641, 642] == [line.number for line in place.excerpt]
    assert [640] == [line.number for line in place.excerpt if line.marked]


def test_no_excerpt_is_longer_than_six_lines() -> None:
    run = scan()
    long = replace(run.installs[1].excerpts[0], text="x\n" * 50)
    made = view_of(replace(run, installs=(replace(run.installs[1], excerpts=(long,)),)))

    assert 6 == max(len(place.excerpt) for finding in made.findings for place in finding.places)


def headings(view: View) -> list[tuple[str, bool]]:
    return [(group.heading, group.apart) for group in view.timings]


def test_a_probe_of_the_same_machine_enters_the_decision() -> None:
    view = both_view()

    assert ("NVIDIA H200", False) == headings(view)[0]
    assert any("tree_verify against linear_verify: 1.21x" in line for line in view.decisions[0].because)


def test_a_probe_of_another_model_is_shown_apart_and_decides_nothing() -> None:
    """Although its host is joined to the run, and so its GPU is among those known."""
    b200 = replace(H200, name="NVIDIA B200", uuid="GPU-b200")
    other = Host("other", "gpu12", "", (b200,), ())
    run = joined(scan(), probe(replace(DEVICE, name=b200.name, uuid=b200.uuid), other), decide)
    view = view_of(run)

    assert ("NVIDIA B200: another GPU model than this host's", True) == headings(view)[0]
    assert () == run.estimates[0].ratios
    assert all("1.21x" not in line for decision in view.decisions for line in decision.because)


def test_the_view_and_the_decision_agree_on_which_gpu_counts() -> None:
    for name in (H200.name, "NVIDIA B200", ""):
        run = joined(scan(), probe(replace(DEVICE, name=name)), decide)
        apart = [group.apart for group in view_of(run).timings if group.timings and group.timings[0].median]

        assert [not run.estimates[0].ratios] == apart


def test_joining_tells_the_scan_which_gpus_its_machine_has() -> None:
    run = joined(replace(scan(), hosts=(replace(HOST, gpus=()),)), probe(), decide)

    assert (H200,) == run.hosts[0].gpus
    assert 1 == len(run.hosts)


def test_a_kernel_that_disagrees_shows_no_speed() -> None:
    timing = next(each for each in both_view().timings[0].timings if each.kernel == "tree_verify_lazy")

    assert timing.disagrees
    assert ("", "", "", "") == (timing.median, timing.interval, timing.over_floor, timing.over_baseline)


def test_axes_that_all_cases_share_are_said_once() -> None:
    run = replace(
        probe(),
        measurements=tuple(
            measurement("k", "subject", 5.0, case={"batch": batch, "dtype": "bf16"}) for batch in (1, 64)
        ),
    )
    (group,) = view_of(run, "probe").timings

    assert ["batch 1", "batch 64"] == [each.case for each in group.timings]
    assert group.note.endswith("Every case: dtype bf16.")


def test_what_was_built_in_several_ways_tells_them_apart() -> None:
    used = Resources("sm_90", 33, 1088, 0, 0, 0, 232_448, fits=True)
    built = [measurement("k", "subject", 1.0, mode="compile", case={"nodes": 8}, resources=(used,)) for _ in range(2)]
    configs: list[dict[str, int | float | str]] = [{"BLOCK": 1024, "warps": 4}, {"BLOCK": 2048, "warps": 4}]
    made = tuple(replace(each, config=config) for each, config in zip(built, configs, strict=True))
    (group,) = view_of(replace(probe(), measurements=made), "probe").timings

    assert ["BLOCK 1024, warps 4", "BLOCK 2048, warps 4"] == [each.case for each in group.built]


@pytest.mark.parametrize(
    ("change", "lead"),
    [
        ({"installs": (), "estimates": ()}, "No engine was found on localhost."),
        ({"installs": (), "estimates": (), "command": ("probe-kernels",)}, "No kernel was measured on localhost."),
        ({"estimates": ()}, "Only kernel packages were scanned; they answer through the engine that calls them."),
    ],
)
def test_a_run_without_estimates_says_why(change: dict[str, object], lead: str) -> None:
    made = replace(scan(), installs=scan().installs[:1])

    assert lead == view_of(replace(made, **change)).lead  # type: ignore[arg-type]  # fields by name


def test_kernels_that_were_timed_without_an_engine_are_not_called_untimed() -> None:
    timed = replace(probe(), estimates=(), installs=())
    untimed = replace(timed, measurements=tuple(replace(each, spread=None) for each in timed.measurements))

    assert "Kernels were timed, and no engine was scanned with them." == view_of(timed).lead
    assert "Kernels were checked or built, none was timed, and no engine was scanned." == view_of(untimed).lead


def test_the_formats_are_those_that_help_texts_name() -> None:
    assert {"csv", "html", "json", "markdown", "sarif", "text", "tsv"} == set(formats())


def test_a_misspelt_format_is_answered_with_the_nearest() -> None:
    with pytest.raises(NotFound) as caught:
        format_named("htlm")

    assert "Did you mean html?" == caught.value.hint


def test_equal_labels_of_two_hosts_are_told_apart() -> None:
    """By the host; where one host has them all, its name adds nothing."""
    one = scan()
    other = replace(HOST, id="another", name="gpu08", transport="openssh: asked for")
    moved = [replace(each, id=f"{each.id}-2", host="gpu08") for each in one.installs]
    view = view_of(replace(one, hosts=(*one.hosts, other), installs=(*one.installs, *moved)))
    labels = [column.label for column in view.columns]

    assert len(set(labels)) == len(labels)
    assert any(label.endswith(" on gpu08") for label in labels)
    assert not any(" on " in column.label for column in view_of(one).columns)
    assert view.hosts[-1].platform.endswith("reached by openssh: asked for")


def test_the_screen_says_which_of_two_installs_is_imported() -> None:
    one = scan()
    note = "imported first; shadows /src/vllm"
    installs = tuple(replace(each, provenance=replace(each.provenance, note=note)) for each in one.installs)

    assert note in " ".join(terminal.screen(view_of(replace(one, installs=installs))).split())


def test_an_id_that_is_another_hosts_name_moves_no_install() -> None:
    """A machine gives itself its id; the name is what the user typed."""
    one = scan()
    liar = replace(HOST, id=HOST.name, name="gpu08", gpus=())
    view = view_of(replace(one, hosts=(*one.hosts, liar)))

    assert {HOST.name} == {column.host for column in view.columns}
    assert () == view.hosts[-1].installs
    assert len(one.installs) == len(view.hosts[0].installs)


def curve(kernel: str, times: dict[int, float], **case: int | str) -> list[Measurement]:
    return [measurement(kernel, "subject", us, case={"m": tokens, **case}) for tokens, us in times.items()]


def test_a_curve_is_one_line_on_the_screen_and_in_the_page_and_its_points_are_in_the_page() -> None:
    up, down = {1: 100.0, 128: 109.0, 192: 151.0, 512: 298.0}, {1: 10.0, 2: 19.0, 512: 20.0}
    measured = (*curve("gemm.torch", up, weight="up"), *curve("gemm.torch", down, weight="down"))
    view = view_of(replace(probe(), measurements=measured, estimates=decide((), (HOST,), measured)))
    screen, page, rows = terminal.screen(view), html.render(view), tsv.render(view)
    (group,) = view.timings

    assert [("weight up", "128", "1.51x (1.47 to 1.56) at 192, 2.98x (2.89 to 3.07) at 512")] == [
        (each.case, each.free, each.then) for each in group.curves if each.first == "100 µs at 1"
    ]
    assert ["not at all"] == [each.free for each in group.curves if each.case == "weight down"]
    assert all(each.on_curve for each in group.timings)
    assert 2 == screen.count("gemm.torch")
    assert 2 == rows.count("\nknee\t")
    assert 7 + 2 == page.count('<th scope="row">gemm.<wbr>torch')


def test_a_weight_whose_second_point_cannot_be_told_is_not_called_dear() -> None:
    measured = curve("gemm.torch", {1: 100.0, 2: 125.0, 512: 300.0}, weight="up")
    view = view_of(replace(probe(), measurements=tuple(measured), estimates=decide((), (HOST,), measured)))

    assert ["unclear at 2"] == [each.free for group in view.timings for each in group.curves]


def test_a_point_that_disagrees_stays_on_the_screen() -> None:
    whole = curve("gemm.torch", {1: 100.0, 2: 101.0, 4: 102.0}, weight="up")
    wrong = measurement("gemm.torch", "subject", 5.0, mismatches=1, case={"m": 8, "weight": "up"})
    view = view_of(replace(probe(), measurements=(*whole, wrong), estimates=decide((), (HOST,), whole)))

    assert "disagrees in 1 of 12 cases" in terminal.screen(view)


def test_knees_of_a_kernel_are_one_sentence() -> None:
    up, down = {1: 100.0, 128: 109.0, 192: 151.0}, {1: 10.0, 64: 11.0, 128: 20.0}
    both = knees_of([*curve("gemm.torch", up, weight="up"), *curve("gemm.torch", down, weight="down")])

    said = f"On {DEVICE.name}, gemm.torch takes at most 1.25x the time of the fewest tokens up to"

    assert (f"{said} 64 to 128 tokens, by the case.",) == knees_words(both)
    assert knees_words(both[:1])[0].endswith("up to 128 tokens.")


def test_times_that_the_host_had_a_hand_in_are_told_apart() -> None:
    graph = measurement("tree.expand", "subject", 15.0)
    host = replace(measurement("tree.host", "baseline", 300.0), captured=False)
    (group,) = view_of(replace(probe(), measurements=(graph, host))).timings

    assert "Not from a graph, so with the host's own time: tree.host." in group.note
    assert "tree.expand" not in group.note


def test_a_burst_is_told_beside_the_sustained_time() -> None:
    burst = Burst(Spread(8.4, 8.3, 8.5, 8.3, 8.5, 7), (8.4,) * 7, Floor(4.0, "memory", "in bursts"), None)
    made = replace(measurement("tree_verify", "subject", 10.4), burst=burst)
    view = view_of(replace(probe(), measurements=(made,)), "probe")
    words = "after rests 8.40 \N{MICRO SIGN}s, 2.10x the floor"

    assert words == view.timings[0].timings[0].burst
    assert words in html.render(view)
