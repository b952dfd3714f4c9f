"""A screening runs all of its design in every block, until every effect is decided."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.store import Ledger
from iostudy.results.comparisons import (
    compare_configurations,
    decision_rule,
    log_figures,
    rank_configurations,
)
from iostudy.results.power import find_power_basis
from iostudy.study.model import Study
from iostudy_search.screening.results import effect_noise_ratio, screen_interactions
from tests.execution.test_runner import conduct, rows
from tests.fake_node import Disturbance, FakeNode
from tests.study.files import parse_once

TEXT = """
question: Which matters?
target: /tmp
factors:
  block.scheduler: [none, bfq]
  workload.direct: [false, true]
  mount.atime: [relatime, noatime]
  block.nr_requests: [as-found, 64]
workloads: [{io: {label: file-writes, operation: write}}]
decide: {margin: 3%, risk: 5%, blocks: [3, 12]}
design: plackett-burman
"""


def study(text: str = TEXT) -> Study:
    return parse_once(text)


def effects(plan: Study, **by_level: float) -> dict[str, float]:
    """What each run gains, as a fraction, where each of its levels multiplies the figure."""
    gains = {}
    for each in plan.configurations():
        gain = 1.0
        for level, fraction in by_level.items():
            gain *= 1 + fraction if f"={level}" in each.label else 1
        gains[each.label] = gain - 1
    return gains


def test_every_block_holds_the_whole_design_until_all_is_decided(tmp_path):
    plan = study()
    node = FakeNode(effects=effects(plan, bfq=-0.2, noatime=0.1), noise=0.01)
    final = {s.configuration: s for s in conduct(tmp_path, node, text=TEXT)}
    assert {label: s.comparison.verdict for label, s in final.items()} == {
        "scheduler=bfq": Verdict.WORSE,
        "direct=true": Verdict.EQUIVALENT,
        "atime=noatime": Verdict.BETTER,
        "nr_requests=64": Verdict.EQUIVALENT,
    }
    blocks = [row.block for row in rows(tmp_path)]
    runs = len(plan.configurations())
    assert {blocks.count(block) for block in blocks} == {runs} == {16}
    assert final["scheduler=bfq"].comparison.blocks == max(blocks)


def test_means_are_those_of_the_level_alone_and_of_all_first_levels(tmp_path):
    node = FakeNode(effects=effects(study(), bfq=-0.2, noatime=0.1), noise=1e-4)
    final = {s.configuration: s for s in conduct(tmp_path, node, text=TEXT)}
    for label, value in (("scheduler=bfq", 800), ("atime=noatime", 1100), ("direct=true", 1000)):
        assert final[label].mean == pytest.approx(value, rel=1e-3)
        assert final[label].baseline_mean == pytest.approx(1000, rel=1e-3)
        ratio = final[label].mean / final[label].baseline_mean - 1
        assert final[label].comparison.change == pytest.approx(ratio)


def test_effects_on_times_have_the_opposite_sign(tmp_path):
    text = TEXT.replace(
        "[{io: {label: file-writes, operation: write}}]",
        "[{io: {label: file-writes, operation: write, figure: write_latency_p99}}]",
    )
    node = FakeNode(effects=effects(study(text), bfq=0.2), noise=1e-3)
    worse = next(s for s in conduct(tmp_path, node, text=text) if "bfq" in s.configuration)
    assert worse.comparison.verdict is Verdict.WORSE
    assert worse.comparison.change == pytest.approx(0.2, rel=0.02)
    assert worse.mean == pytest.approx(1200, rel=0.01)


def test_a_screening_goes_on_where_it_stopped_and_decides_the_same(tmp_path):
    gains = effects(study(), bfq=0.02)
    whole = conduct(tmp_path / "whole", FakeNode(effects=gains, noise=0.0), text=TEXT)
    stop = {40: Disturbance(error=KeyboardInterrupt())}
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path / "stopped", FakeNode(effects=gains, noise=0.0, script=stop), text=TEXT)
    node = FakeNode(effects=gains, noise=0.0)
    assert conduct(tmp_path / "stopped", node, text=TEXT, resume=True, seed=None) == whole
    assert {row.block for row in rows(tmp_path / "stopped")} == {1, 2, 3}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """The rows of a screening without effects."""
    folder = tmp_path_factory.mktemp("quiet")
    conduct(folder, FakeNode(noise=0.001), text=TEXT)
    return rows(folder)


def test_a_run_of_which_a_trial_fails_counts_in_no_effect(quiet):
    plan = study()
    part = [row for row in quiet if row.counts][: 2 * 16]
    assert {s.comparison.blocks for s in compare_configurations(plan, part)} == {2}
    assert {s.comparison.verdict for s in compare_configurations(plan, part)} == {
        Verdict.INCONCLUSIVE
    }


def test_no_configurations_are_ranked(quiet):
    assert rank_configurations(study(), quiet) is None


def test_interactions_are_found_where_the_design_separates_them(tmp_path):
    plan = study()
    both = {c.label: 0.3 if "=bfq, direct=true" in c.label else 0 for c in plan.configurations()}
    conduct(tmp_path, FakeNode(effects=both, noise=0.005), text=TEXT)
    figures = tuple(log_figures(plan, rows(tmp_path)))
    found = {s.label: s for s in screen_interactions(plan, figures, decision_rule(plan))}
    assert len(found) == 6
    together = found["scheduler=bfq with direct=true"]
    assert together.effect.comparison.verdict is Verdict.BETTER
    assert together.effect.comparison.change == pytest.approx(0.3, abs=0.03)
    others = {s.effect.comparison.verdict for s in found.values() if s is not together}
    assert Verdict.BETTER not in others and Verdict.WORSE not in others


def test_whole_plots_are_made_once_in_every_block(tmp_path):
    text = TEXT.replace("target: /tmp", "target: {loopback: {size: 1GiB}}").replace(
        "mount.atime: [relatime, noatime]", "filesystem.journal: [on, off]"
    )
    node = FakeNode(noise=0.001)
    conduct(tmp_path, node, text=text)
    formats = [line for line in node.log if line.startswith("format")]
    blocks = Ledger.open(tmp_path)
    try:
        number = max(row.block for row in blocks.rows())
    finally:
        blocks.close()
    assert len(formats) == 2 * number


def test_an_effect_has_less_noise_than_a_pair_as_it_rests_on_all_runs(tmp_path):
    text = TEXT.replace("[3, 12]", "[12, 12]")
    assert effect_noise_ratio(study(text)) == pytest.approx(math.sqrt(1 / 8))
    final = conduct(tmp_path, FakeNode(noise=0.02), text=text)
    found = math.sqrt(fmean(each.comparison.sd**2 for each in final))
    assert found == pytest.approx(0.02 * math.sqrt(2 / 8), rel=0.3)


def test_the_bias_of_a_file_system_is_part_of_an_effect_as_of_a_pair():
    disk = TEXT.replace("/tmp", "{loopback: {size: 1GiB}}").replace(
        "workload.direct: [false, true]", "filesystem.type: [ext4, xfs]"
    )
    assert effect_noise_ratio(study(disk)) == pytest.approx(1.0)
    pairs = study(TEXT.replace("design: plackett-burman", ""))
    assert find_power_basis(pairs).noise_ratio == 1.0
