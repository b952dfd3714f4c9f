"""Tests of ``iostudy power``: noise, detectable effects and durations."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest

from iostudy.cli.power import AGAIN, build_aa_study
from iostudy.errors import TrialError
from iostudy.execution.session import prepare_session
from iostudy.ledger.studies import open_ledger
from iostudy.report.documents.power import (
    PowerReport,
    build_power,
    build_power_table,
)
from iostudy.report.render import json_
from iostudy.report.section import TextTable
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.mode import find_mode
from tests.fake_node import FakeNode
from tests.json_schema import assert_conforms
from tests.study.files import parse_once

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, kyber, bfq]}
workloads: [{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 30]}
"""


def read(text):
    return parse_once(text)


SEARCH = """
question: Which?
target: /tmp
search:
  parameters: {block.read_ahead_kb: {from: 128, to: 4096, scale: log}}
  budget: 120 trials
workloads: [{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 30]}
"""


WINDOWS = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, mq-deadline]}
workloads:
  - io: {operation: read, order: random, record_size: 4KiB, size: 4MiB, direct: true, duration: 1s}
decide: {margin: 3%, risk: 5%, mode: switchback}
"""


class Estimate(Protocol):
    def __call__(
        self,
        *,
        noise: float,
        budget: float | None = None,
        text: str = TEXT,
        effect: float = 0.0,
    ) -> PowerReport: ...


@pytest.fixture(scope="module")
def estimate(tmp_path_factory: pytest.TempPathFactory) -> Estimate:
    """The report on an A/A study; tests share those that differ by the budget only."""

    @cache
    def measure(text: str, noise: float, effect: float) -> RecordedStudy:
        folder = tmp_path_factory.mktemp("power")
        same = read(build_aa_study(read(text), "A/A", 10))
        assignment = prepare_session(same, folder, root=True, resume=False)
        node = FakeNode(seed=3, noise=noise, effects={AGAIN: effect})
        assignment.execute(node, seed=1, listeners=[])
        with open_ledger(folder) as ledger:
            return RecordedStudy(str(folder), same, ledger.study(), ledger.rows())

    def build(
        *, noise: float, budget: float | None = None, text: str = TEXT, effect: float = 0.0
    ) -> PowerReport:
        return build_power(read(text), measure(text, noise, effect), budget)

    return build


def test_a_baseline_that_failed_has_no_noise(tmp_path: Path) -> None:
    same = read(build_aa_study(read(TEXT), "A/A", 10))
    assignment = prepare_session(same, tmp_path, root=True, resume=False)
    assignment.execute(FakeNode(seed=3), seed=1, listeners=[])
    with open_ledger(tmp_path) as ledger:
        first, *others = ledger.rows()
        rows = (replace(first, figures={}), *others)
        recorded = RecordedStudy(str(tmp_path), same, ledger.study(), rows)
    with pytest.raises(TrialError, match="the baseline failed"):
        build_power(read(TEXT), recorded)


def test_the_noise_is_that_of_pairs_and_what_follows_is_by_the_rule_of_the_study(estimate):
    found = estimate(noise=0.04)
    assert found.comparisons == 4
    for each in found.workloads:
        # Two trials of 4 % each; ten blocks know it to -31 % and +83 %.
        assert each.noise.interval.low < 0.04 * 2**0.5 < each.noise.interval.high
        assert each.noise.interval.high / each.noise.sd == pytest.approx(1.826, rel=1e-3)
        assert each.noise.margin == 0.03 and each.noise.max_blocks == 30
        assert each.noise.reachable > 0.03
        assert "may stay inconclusive in 30 blocks" in each.noise.sentence


def test_times_are_of_the_study_and_not_of_the_a_a(estimate):
    found = estimate(noise=0.01)
    # A trial of the fake node takes a second; the study has three configurations.
    assert [each.trial_seconds for each in found.workloads] == [1.0, 1.0]
    assert [each.block_seconds for each in found.workloads] == [3.0, 3.0]
    assert (found.fewest_seconds, found.most_seconds) == (30.0, 180.0)
    (enough,) = {each.noise.sentence.partition(": ")[2] for each in found.workloads[:1]}
    assert re.search(r"blocks, about [0-9.]+ s ", enough)


@pytest.mark.all_plugins
def test_power_of_a_search_is_that_of_its_confirmation(estimate):
    found = estimate(text=SEARCH, noise=0.01)
    assert (found.configurations, found.comparisons) == (2, 2)
    assert (found.fewest_seconds, found.most_seconds) == (20.0, 120.0)
    assert "the search before it takes 120 trials" in found.sentences[0]


def test_power_of_windows_is_that_of_whole_trials(estimate):
    found, trials = (
        estimate(text=WINDOWS.replace("switchback", mode), noise=0.04, budget=600.0)
        for mode in ("switchback", "trials")
    )
    assert find_mode(read(WINDOWS)).measures_windows
    assert found.workloads == trials.workloads
    assert found.sentences[0].endswith("in whole trials (decide: {mode: trials}).")
    assert any("blocks: [5, " in sentence for sentence in trials.sentences)
    assert not any("blocks: [" in sentence for sentence in found.sentences)


@pytest.mark.all_plugins
def test_an_effect_of_a_screening_has_a_share_of_the_noise_of_two_runs(estimate):
    factors = "factors: {block.scheduler: [none, bfq], mount.atime: [relatime, noatime]}\n"
    both = TEXT.replace("factors: {block.scheduler: [none, kyber, bfq]}\n", factors)
    pairs = estimate(text=both, noise=0.04)
    effects = estimate(text=f"{both}design: full\n", noise=0.04)
    for pair, effect in zip(pairs.workloads, effects.workloads, strict=True):
        assert effect.noise.sd == pytest.approx(pair.noise.sd * 0.5**0.5)
        assert effect.noise.reachable < pair.noise.reachable


def test_a_budget_reaches_what_its_blocks_do(estimate):
    less, more = (estimate(noise=0.04, budget=s) for s in (60.0, 600.0))
    assert (less.budget.blocks, more.budget.blocks) == (10, 100)
    for small, large in zip(less.workloads, more.workloads, strict=True):
        assert large.budget_reachable < large.noise.reachable < small.budget_reachable
        assert large.budget_reachable_interval.low < large.budget_reachable
    assert any("blocks: [5, 100]" in sentence for sentence in more.sentences)


def test_a_budget_that_is_too_small_says_so(estimate):
    found = estimate(noise=0.04, budget=20.0)
    assert not found.budget.enough
    assert all(each.budget_reachable is None for each in found.workloads)
    assert any("fewer than the minimum of 5" in sentence for sentence in found.sentences)


def test_false_winner_is_reported(estimate):
    assert "found no difference" in estimate(noise=0.02).sentences[-1]
    found = estimate(noise=0.02, effect=-0.2)
    assert "found a difference on file-" in found.sentences[-1]


def test_excessive_noise_is_reported_without_infeasible_numbers(estimate):
    found = estimate(noise=3.0)
    shown = build_power_table(found)
    assert isinstance(shown, TextTable)
    cells = " ".join(cell for row in shown.rows for cell in row)
    assert "e+" not in cells and "more than 1000" in cells
    assert "too large to detect" in found.sentences[0]


def test_the_document_has_the_form_of_its_schema(estimate):
    document = estimate(noise=0.04, budget=600.0).model_dump(mode="json")
    assert_conforms(json.loads(json.dumps(document)), json_.build_schema(PowerReport))
    assert next(iter(document.items())) == ("schema", "iostudy.power/1")
