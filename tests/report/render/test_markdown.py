from __future__ import annotations

import re

from syrupy.assertion import SnapshotAssertion

from iostudy.report.base import Step
from iostudy.report.render import markdown
from tests.report.factory import build_report, disturbed, report, rows, study, study_row
from tests.report.parted import cells, parted_report


def test_a_report(snapshot: SnapshotAssertion) -> None:
    experiment = study()
    report = build_report(experiment, study_row(experiment), disturbed(rows(experiment, blocks=6)))
    assert markdown.render(report) == snapshot


def test_the_answer_comes_before_every_table() -> None:
    text = markdown.render(report())
    assert text.index("bfq costs") < text.index("| scheduler")


def test_telemetry_has_units_and_says_what_it_is_of() -> None:
    text = markdown.render(report())
    busy, further = text.split("### Bottlenecks")[1].split("<details>", 1)
    heads = "w_await of loop0, ms | aqu-sz of loop0, requests | %util of loop0 | %user | %system |"
    assert f"| scheduler | {heads}" in busy
    assert "| none | 2.19 | 44.0 | 91.9 | 1.50 | 48" in busy
    assert "wMiB/s" not in busy
    assert further.startswith("<summary>further telemetry of loop0</summary>")
    assert "| wMiB/s | 41" in further
    assert "%system" not in further.split("</details>")[0]


def test_the_estimate_of_needed_blocks_is_explained_with_a_row_of_the_table() -> None:
    text = markdown.render(report(blocks=6))
    assert "| 6 of ≈20 |" in text
    assert "Blocks: 6 of ≈20 means 6 run" in text
    assert " means 20 run" not in markdown.render(report(blocks=20))


def test_constant_telemetry_is_omitted() -> None:
    write, read = markdown.render(report()).split("## file-reads")
    assert "rMiB/s" in read and "wMiB/s" not in read
    assert "wMiB/s" in write and "rMiB/s" not in write


def test_foreign_text_is_escaped() -> None:
    hostile = "<script>alert(1)</script> | [x](javascript:1)\n# heading `code` *bold*"
    output = markdown.render(report().model_copy(update={"question": hostile}))
    first = output.splitlines()[0]
    assert "\\<script\\>" in first
    assert "\\| [x\\](javascript:1) \\# heading \\`code\\` \\*bold\\*" in first


def test_names_in_commands_are_code_without_bidirectional_controls() -> None:
    hostile = "a`![x](http://x)<b>\u202e"
    steps = (f"Run `iostudy run {hostile}.yaml`.",)
    next_steps = (Step(text=hostile, command=f"iostudy persist {hostile}"),)
    output = markdown.render(
        report().model_copy(update={"reproduce": steps, "next_steps": next_steps})
    )
    assert "``iostudy persist a`![x](http://x)<b>\\u202e``" in output
    assert "1. a\\`![x\\](http://x)\\<b\\>\\\\u202e ``" in output
    assert "1. Run `iostudy run a`![x\\](http://x)\\<b\\>" in output
    assert "\u202e" not in output.split("## Host")[0]


def test_a_study_text_with_fences_stays_in_its_block() -> None:
    output = markdown.render(report().model_copy(update={"study_text": "a\n````\nb\n"}))
    assert "`````yaml\na\n````\nb\n`````" in output


def test_matrix_has_the_layout_of_iozone_and_is_folded_if_long() -> None:
    labels = cells(["write"], [64 << 10, 1 << 20], [4 << 10, 128 << 10])
    text = markdown.render(parted_report(labels))
    assert "### rate of each part, KiB/s" in text
    assert "write, none:\n\n| file \\\\ record | 4KiB | 128KiB |\n| --- | ---: | ---: |" in text
    assert re.search(r"^\| 64KiB \| [\d.]+ \(\+\d\d\.\d %\) \|  \|$", text, re.MULTILINE)
    long = markdown.render(parted_report(cells()))
    assert "<details><summary>write, none</summary>\n\n| file" in long


def test_labels_of_parts_are_text_and_not_markup() -> None:
    hostile = "</summary><b>|`*"
    experiment = study(workloads=["file-reads"])
    labels = [{hostile: f"{hostile}{n}"} for n in range(30)]
    text = markdown.render(parted_report(labels, own_study=experiment))
    assert hostile not in text
