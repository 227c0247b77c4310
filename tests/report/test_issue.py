"""What is pasted into a tracker: all that maintainers ask for, and nobody's names."""

import os
import re
from dataclasses import replace
from pathlib import Path

from recon.records.install import Engine
from recon.records.verdict import Gate, OwnWord, Standing
from recon.report import csv_table, markdown, sarif
from recon.report.issue import concerned, issue
from recon.report.redacted import redacted
from tests.report.hand import H200, scan
from tests.report.test_files import flat, parsed, tables
from tests.report.test_redacted import TOLD, private
from tests.report.views import both_view, failed_view, scan_view, view_of
from tests.report.whole import whole_view

GOLDEN = Path(__file__).parent / "golden" / "issue.md"


def test_versions_machine_and_libraries_are_told() -> None:
    said = issue(both_view())

    for words in (
        "- recon 0.1.0\n",
        "- vllm 0.20.1 (wheel, by uv, Python 3.12 in venv): 1 modified of 1,900 files\n",
        "    - `vllm/v1/spec_decode/dflash.py`\n",
        "1 x NVIDIA H200 (sm\\_90, 140 GiB, driver 570.124.06)",
        "CUDA 12.8, torch 2.13.0, triton 3.6.0, Python 3.12.3",
        "- `tree_verify_lazy` disagrees in 2 of 12 cases",
    ):
        assert words in said


def test_libraries_that_no_probe_told_are_not_guessed() -> None:
    assert "- torch and triton: not known, since nothing was timed (`recon probe-kernels`)\n" in issue(scan_view())


def test_equal_cards_are_counted() -> None:
    run = scan()
    cards = tuple(replace(H200, index=number, uuid=f"GPU-{number}") for number in range(8))

    assert "8 x NVIDIA H200 (" in issue(view_of(replace(run, hosts=(replace(run.hosts[0], gpus=cards),))))


def test_verdicts_are_those_that_are_no_plain_yes_or_those_that_are_asked_about() -> None:
    view = scan_view()
    (rows,) = tables(issue(view))
    (asked,) = tables(issue(view, ["accept.*", "pos.tree"]))

    assert {"no", "partly, in the tree", "partly, connected", "cannot tell"} == {row[2] for row in rows[1:]}
    assert 7 == len(rows[1:]) == len(concerned(view, ()))
    assert {"accept.linear.greedy", "accept.tree.greedy", "pos.tree"} == {row[0] for row in asked[1:]}
    assert "### Verdicts: 7\n" in issue(view)


def test_what_a_gate_says_ends_in_one_full_stop() -> None:
    run = scan()
    gate = Gate("topk > 1", "engine/args.py", 7, "Trees are not supported.")
    gated = replace(run.installs[1].verdicts[0], gates=(gate,))
    shown = issue(view_of(replace(run, installs=(replace(run.installs[1], verdicts=(gated,)),))), [gated.capability])

    assert "Trees are not supported. |" in shown


def test_a_kernel_package_is_not_in_question_by_itself() -> None:
    run = scan()
    odd = replace(
        run.installs[0], verdicts=tuple(replace(each, standing=Standing.ABSENT) for each in run.installs[0].verdicts)
    )

    assert Engine.FLASHINFER is odd.engine
    assert [] == concerned(view_of(replace(run, installs=(odd,))), ())
    assert "None is in question" in issue(view_of(replace(run, installs=(odd,))))


def test_no_name_of_a_host_a_user_or_a_folder_is_in_it() -> None:
    run = private()
    noted = replace(run.installs[1], provenance=replace(run.installs[1].provenance, note="shadowed by /home/bob/x"))
    reason = replace(noted.verdicts[1], reason="gpu07 says so to alice in /home/bob/secret.")
    noted = replace(noted, verdicts=(noted.verdicts[0], reason, *noted.verdicts[2:]))
    said = issue(view_of(replace(run, installs=(run.installs[0], noted, run.installs[2]))))

    assert "host-1 says so to someone in /home/someone/secret." in said
    assert [] == [name for name in TOLD if name in said]
    assert not re.search(r"/opt/|/env|site-packages", said)


def test_other_files_of_a_redacted_run_name_nobody_either() -> None:
    run, sources, _ = redacted(private(), [])
    view = replace(view_of(run), method=())

    assert [] == sources
    for render in (markdown.render, csv_table.render, sarif.render):
        assert [] == [name for name in TOLD if name in render(view)]


def test_a_users_own_word_stands_beside_what_was_seen() -> None:
    run = scan()
    said = replace(run.installs[1].verdicts[1], own_word=OwnWord(Standing.PRESENT, "our patch walks", "recon.toml"))
    vllm = replace(run.installs[1], verdicts=(run.installs[1].verdicts[0], said, *run.installs[1].verdicts[2:]))
    view = view_of(replace(run, installs=(run.installs[0], vllm, run.installs[2])))

    for text in (issue(view), markdown.render(view)):
        assert "no; you say yes" in text
        assert "our patch walks" in text


def test_nothing_of_a_tree_becomes_a_mark() -> None:
    said = issue(whole_view())

    assert not {"html_block", "html_inline", "link_open", "image", "fence", "s_open"} & {
        each.type for each in flat(parsed(said))
    }
    assert all(len(row) == len(rows[0]) for rows in tables(said) for row in rows)
    assert set() == {each for each in said if not each.isprintable()} - {"\n"}
    assert "### Seen when called, against what the source was read to be\n" in said


def test_the_paste_is_the_one_that_is_kept() -> None:
    made = issue(failed_view()).encode()
    if os.environ.get("RECON_REWRITE"):
        GOLDEN.write_bytes(made)

    assert GOLDEN.read_bytes() == made
