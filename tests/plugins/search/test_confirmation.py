"""The study that confirms the winner of a search: whole, and for the same user as the search."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.study.sections import Refusal
from iostudy_search.candidates import add_candidates
from iostudy_search.confirmation import build_confirmation
from iostudy_search.search import DEFAULT, Candidate
from tests.study.files import read

WITHOUT_ROOT = """question: Which?
target: {loopback: {size: 1GiB}}
factors:
  block.scheduler: [none, bfq]
  block.read_ahead_kb: [128, 4096]
  block.nr_requests: [64, 128]
workloads:
  - io: {files: 2, size: 64MiB, label: LABEL}
decide: {margin: 4%, risk: 5%, blocks: [5, 20], weights: {LABEL: 2}}
# Of those above alone.
without_root:
  question: Which records?
  search:
    parameters:
      workload.record_size: {from: 64KiB, to: 4MiB, scale: log, step: 64KiB}
      workload.direct: [true, false]
    budget: 40 trials
"""
WINNER = Candidate(1, 1, "the one", {"workload.record_size": "131072", "workload.direct": "true"})


def confirmed(text):
    study = add_candidates(read(text).without_root(), [WINNER])
    return build_confirmation(study, WINNER.label, 7, Path("/results/confirmation"))


@pytest.mark.parametrize(
    "more",
    [
        "",
        "configurations: {a: {}, b: {block.scheduler: bfq}}\nbaseline: b\n",
        "baseline: scheduler=bfq, read_ahead_kb=128, nr_requests=64\n",
        "design: plackett-burman\n",
        "refused: leave-out\n",
    ],
)
def test_factors_for_root_are_no_part_of_the_confirmation(more):
    text = confirmed(WITHOUT_ROOT + more)
    study = read(text)
    default, winner = study.configurations()
    assert (default.label, winner.label) == (DEFAULT, "the one")
    assert default.options == {"record_size": "1MiB", "direct": "false"}
    assert winner.options == {"record_size": "128KiB", "direct": "true"}
    assert study.question == "Which records?"
    assert study.target.path == Path("/results/confirmation")
    assert (study.design, study.refusal) == (None, Refusal.STOP)
    assert "Of those above alone" not in text


def test_names_of_many_words_are_read_back():
    one, other = (f"the {which} that our batch jobs read in the night" for which in ("a", "b"))
    text = WITHOUT_ROOT.replace("label: LABEL}", f"label: {one}}}\n  - io: {{label: {other}}}")
    study = read(confirmed(text.replace("LABEL: 2", f"{one}: 2, {other}: 3")))
    assert study.decide.weights == {one: 2, other: 3}


def test_the_seed_differs_and_is_the_same_for_the_same_search():
    assert confirmed(WITHOUT_ROOT) == confirmed(WITHOUT_ROOT)
    assert read(confirmed(WITHOUT_ROOT)).seed not in (None, 7)
