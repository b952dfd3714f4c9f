"""Tests of the selftest with correct and incorrect tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.cli.selftest import (
    ExpectationOutcome,
    SelftestReport,
    build_selftest,
    build_selftest_table,
    study_on,
)
from iostudy.execution.session import prepare_session
from iostudy.report.render import json_
from tests.fake_node import FakeNode
from tests.json_schema import assert_conforms

TRUE = {"5 % slower": -0.05, "10 % slower": -0.1}


def run_selftest(folder, effects=TRUE, noise=0.01, seed=1) -> SelftestReport:
    study = study_on(Path("/tmp"))
    node = FakeNode(effects=effects, noise=noise, seed=seed)
    assignment = prepare_session(study, folder, root=True, resume=False)
    return build_selftest(study, assignment.execute(node, seed=1, listeners=[]), str(folder))


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> SelftestReport:
    """The selftest of a tool that measures what is there."""
    return run_selftest(tmp_path_factory.mktemp("selftest"))


def test_real_effects_are_found_and_no_others(found):
    assert found.outcome is ExpectationOutcome.PASSED
    assert found.sentence.startswith("passed")
    assert [each.expected_change for each in found.expectations] == [0, -0.05, -0.1]
    assert all(each.holds for each in found.expectations)


def test_noisy_machine_decides_nothing_and_reports_its_power(tmp_path):
    found = run_selftest(tmp_path, noise=0.2)
    assert found.outcome is ExpectationOutcome.UNDECIDED
    assert "too noisy" in found.sentence and "noise" in found.sentence
    outcomes = {each.configuration: each.outcome for each in found.expectations}
    assert outcomes["the same again"] is ExpectationOutcome.PASSED


@pytest.mark.parametrize(
    ("effects", "kinds"),
    [
        (TRUE | {"the same again": -0.1}, ("the same again", "false positive")),
        (TRUE | {"the same again": 0.1}, ("the same again", "false positive")),
        (TRUE | {"5 % slower": 0.05}, ("5 % slower", "called better")),
        (TRUE | {"10 % slower": 0.0}, ("10 % slower", "called equivalent")),
        (TRUE | {"10 % slower": -0.3}, ("10 % slower", "interval misses the expected change")),
    ],
)
def test_wrong_verdicts_fail_the_selftest(tmp_path, effects, kinds):
    found = run_selftest(tmp_path, effects)
    assert found.outcome is ExpectationOutcome.FAILED
    failed = [each for each in found.expectations if each.outcome is ExpectationOutcome.FAILED]
    assert [(each.configuration, each.sentence) for each in failed] == [kinds]
    assert "at most 5 %" in found.sentence


def test_the_table_has_a_line_for_each(found):
    rows = build_selftest_table(found).rows
    assert [row[:2] for row in rows] == [
        ("the same again", "no different"),
        ("5 % slower", "-5.0 %"),
        ("10 % slower", "-10.0 %"),
    ]


def test_the_document_has_the_form_of_its_schema(found):
    document = found.model_dump(mode="json")
    assert_conforms(json.loads(json.dumps(document)), json_.build_schema(SelftestReport))
    assert next(iter(document.items())) == ("schema", "iostudy.selftest/1")
