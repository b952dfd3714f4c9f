"""Nodes that ran each trial together, in the report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.ledger.rows import TrialRow
from iostudy.report.section import Section
from iostudy.report.topics.registry import build_summary_sections
from iostudy_fleet.together.joint_run import NodePart
from iostudy_fleet.together.topic import TogetherReport, build_together
from tests.report.factory import report, rows, study

STUDY = study(workloads=("file-writes",))


def make_joint(row: TrialRow, **seconds: float) -> TrialRow:
    """Node b starts 2 ms after the others."""
    parts = [
        NodePart(node, own, 0.002 if node == "b" else 0.0, 0.0005, 1000).to_part()
        for node, own in seconds.items()
    ]
    return replace(row, parts=tuple(parts))


def make_rows() -> list[TrialRow]:
    """Node c takes half as long again, and is lost before block 3."""
    first = {"a": 10.0, "b": 10.0, "c": 15.0}
    return [
        make_joint(row, **(first if row.block < 3 else {"a": 10.0, "b": 10.0}))
        for row in rows(STUDY, blocks=3)
    ]


def build_section(found: TogetherReport) -> Section:
    return found.build_section(factor="scheduler", risk=0.05, several=False)


def test_stragglers_starts_and_absences_are_found() -> None:
    found = build_together(STUDY, make_rows())
    assert found is not None
    assert found.trials == 12
    assert found.starts is not None
    assert (found.starts.median, found.starts.clock_error) == (0.002, 0.0005)
    slowest, *others = [own for own in found.nodes if own.configuration == "none"]
    assert (slowest.node, slowest.trials, slowest.straggled) == ("c", 2, 2)
    assert slowest.relative == pytest.approx(0.5)
    assert {own.node: own.straggled for own in others} == {"a": 0, "b": 0}
    assert [(own.block, own.missing) for own in found.absences] == [(3, ("c",))]


def test_the_section_says_them_in_words() -> None:
    found = build_together(STUDY, make_rows())
    assert found is not None
    section = build_section(found)
    text = "\n".join(section.notes)
    assert "median 2.0 ms, longest 2.0 ms, of 12 trials on several nodes." in text
    assert "The median share" not in text
    assert "Stragglers: in some trials, c took longer" in text
    assert "Block 3 of file-writes ran without c, lost before it." in text
    assert section.tables[0].rows[0][2:7] == ("c", "2", "15.0 s", "+50.0 %", "2")


def test_the_section_follows_the_answers_of_the_study() -> None:
    of_one_host = report()
    found = of_one_host.model_copy(update={"together": build_together(STUDY, make_rows())})
    names = [section.name for section in build_summary_sections(found)]
    assert names.index("nodes") > names.index("ranking")
    names.remove("nodes")
    assert names == [section.name for section in build_summary_sections(of_one_host)]


def test_blocks_of_fewer_nodes_by_their_load_are_no_absences() -> None:
    loaded = replace(STUDY, workloads=tuple(replace(own, node_count=2) for own in STUDY.workloads))
    found = build_together(loaded, make_rows())
    assert found is not None
    assert (found.drawn, found.absences) == (True, ())
    section = build_section(found)
    assert section.notes[0].startswith("Each round put the nodes into a random order.")


def test_trials_on_one_node_have_no_start_skew_and_no_stragglers() -> None:
    found = build_together(STUDY, [make_joint(row, b=0.1) for row in rows(STUDY, blocks=3)])
    assert found is not None
    assert found.starts is None
    section = build_section(found)
    assert section.tables[0].rows[0][2:] == ("b", "3", "100 ms", "", "", "")
    assert "first to the last start" not in " ".join(section.notes[1:])


def test_a_skew_above_the_margin_is_a_caveat_of_the_growth_since_one_node() -> None:
    """Half of the trials are on one node: they do not change the skew."""
    loaded = replace(STUDY, workloads=tuple(replace(own, node_count=2) for own in STUDY.workloads))
    made = [
        make_joint(row, a=0.02, b=0.02) if row.block % 2 else make_joint(row, a=0.02)
        for row in rows(STUDY, blocks=4)
    ]
    found = build_together(loaded, made)
    assert found is not None
    assert found.starts is not None
    assert (found.trials, found.starts.trials, found.starts.median) == (16, 8, 0.002)
    section = build_section(found)
    assert "The median share is 9.09 %, more than the margin" in " ".join(section.notes)


def test_a_study_of_one_host_has_no_such_section() -> None:
    assert build_together(STUDY, rows(STUDY, blocks=3)) is None
