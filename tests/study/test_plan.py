"""A plan follows from study and seed alone, and gives every configuration its turn."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from iostudy.study.plan import make_plan
from iostudy.study.schema import parse

STUDY = parse(
    """
question: Which?
target: /tmp
factors: {block.scheduler: [none, mq-deadline, kyber, bfq]}
workloads: [dfsio-write, dfsio-read]
decide: {margin: 3%, risk: 5%, blocks: [5, 30]}
""",
    where="study.yaml",
    name="study",
)
seeds = st.integers(min_value=0, max_value=2**63 - 1)


@given(seeds)
def test_same_study_and_seed_same_plan(seed):
    assert make_plan(STUDY, seed) == make_plan(STUDY, seed)


@given(seeds)
def test_every_block_holds_every_configuration_once(seed):
    plan = make_plan(STUDY, seed)
    labels = sorted(c.label for c in STUDY.configurations())
    assert all(sorted(block.order) == labels for block in plan.blocks)
    assert Counter(b.workload for b in plan.blocks) == {"dfsio-write": 30, "dfsio-read": 30}


def test_every_order_is_as_likely_as_any_other():
    first = Counter(b.order[0] for seed in range(500) for b in make_plan(STUDY, seed).blocks)
    expected = 500 * 60 / 4
    # Five standard deviations of a binomial count.
    assert all(abs(count - expected) < 5 * (expected * 0.75) ** 0.5 for count in first.values())


def test_rounds_come_one_after_another():
    indices = [block.index for block in make_plan(STUDY, 1).blocks]
    assert indices == sorted(indices)
