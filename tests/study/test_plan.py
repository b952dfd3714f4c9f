"""A plan follows from study and seed alone, and gives every configuration its turn."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from hashlib import sha256
from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.decision import is_balanced
from iostudy.study.parser import parse
from iostudy.study.plan import make_plan, whole_plots

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, mq-deadline, kyber, bfq]}
workloads: [{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 30]}
"""
STUDY = parse(TEXT, where="study.yaml", name="study")
seeds = st.integers(min_value=0, max_value=2**63 - 1)


@given(seeds)
def test_same_study_and_seed_same_plan(seed):
    assert make_plan(STUDY, seed) == make_plan(STUDY, seed)


@given(seeds)
def test_every_block_holds_every_configuration_once(seed):
    plan = make_plan(STUDY, seed)
    labels = sorted(c.label for c in STUDY.configurations())
    assert all(sorted(block.order) == labels for block in plan.blocks)
    assert Counter(b.workload for b in plan.blocks) == {"file-writes": 30, "file-reads": 30}


def test_every_order_is_as_likely_as_any_other():
    first = Counter(b.order[0] for seed in range(500) for b in make_plan(STUDY, seed).blocks)
    expected = 500 * 60 / 4
    # Five standard deviations of a binomial count.
    assert all(abs(count - expected) < 5 * (expected * 0.75) ** 0.5 for count in first.values())


@given(seeds)
def test_few_blocks_have_both_orders_of_every_pair(seed):
    study = parse(TEXT.replace("30]", "8]"), where="study.yaml", name="study")
    continued = make_plan(replace(study, further_blocks=8), seed).blocks
    assert continued[: 2 * 8] == make_plan(study, seed).blocks
    assert continued[-1].index == 64
    after = defaultdict(list)
    for block in make_plan(study, seed).blocks:
        for label in block.order:
            is_after = block.order.index(label) > block.order.index(study.baseline.label)
            if block.index <= 8 and label != study.baseline.label:
                after[block.workload, label].append(is_after)
    assert len(after) == 6
    assert all(is_balanced(np.array([orders]))[0, -1] for orders in after.values())


def test_three_blocks_cannot_have_both_orders_twice():
    study = parse(TEXT.replace("5, 30", "3, 3"), where="study.yaml", name="study")
    assert [block.index for block in make_plan(study, 1).blocks][:6] == [1, 1, 2, 2, 3, 3]


def test_rounds_come_one_after_another():
    indices = [block.index for block in make_plan(STUDY, 1).blocks]
    assert indices == sorted(indices)


def test_a_seed_of_before_gives_the_plan_of_before():
    blocks = make_plan(STUDY, 7).blocks
    assert blocks[0].order == ("bfq", "kyber", "none", "mq-deadline")
    text = repr([(block.index, block.workload, block.order) for block in blocks])
    assert sha256(text.encode()).hexdigest().startswith("2cd7e43908a414c7")


SPLIT_PLOT = parse(
    """
question: Which?
target: {loopback: {size: 2GiB}}
factors:
  block.scheduler: [none, bfq, kyber]
  filesystem.type: {first: ext4, second: ext4, third: xfs}
workloads: [{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 30]}
""",
    where="study.yaml",
    name="study",
)
PLOT_OF = {c.label: c.whole_plot for c in SPLIT_PLOT.configurations()}


def plots_of(order):
    return [plot for plot, _ in groupby(PLOT_OF[label] for label in order)]


def test_one_value_under_two_labels_makes_two_whole_plots():
    plots = whole_plots(SPLIT_PLOT.configurations())
    assert [plot[0].whole_plot for plot in plots] == [
        "filesystem.type=first",
        "filesystem.type=second",
        "filesystem.type=third",
    ]
    assert all(len({c.settings["block.scheduler"] for c in plot}) == 3 for plot in plots)


@given(seeds)
def test_each_whole_plot_of_a_block_is_made_once(seed):
    for block in make_plan(SPLIT_PLOT, seed).blocks:
        assert sorted(plots_of(block.order)) == sorted(set(PLOT_OF.values()))
        assert sorted(block.order) == sorted(PLOT_OF)


def test_every_order_of_whole_plots_and_within_them_is_as_likely():
    blocks = [block for seed in range(500) for block in make_plan(SPLIT_PLOT, seed).blocks]
    plots = Counter(tuple(plots_of(block.order)) for block in blocks)
    within = Counter(tuple(x for x in b.order if PLOT_OF[x].endswith("third")) for b in blocks)
    for orders in (plots, within):
        expected = len(blocks) / 6
        assert len(orders) == 6
        # Five standard deviations of a binomial count.
        assert all(abs(n - expected) < 5 * (expected * 5 / 6) ** 0.5 for n in orders.values())


def test_no_label_makes_two_file_systems_one():
    study = parse(
        """
question: Which?
target: {loopback: {size: 2GiB}}
factors:
  filesystem.type: {"a, filesystem.reserved=x": ext4, a: ext2}
  filesystem.reserved: {x: 1, "x, filesystem.reserved=x": 2}
workloads: [{io: {label: file-writes, operation: write}}]
""",
        where="study.yaml",
        name="study",
    )
    assert len(whole_plots(study.configurations())) == 4
