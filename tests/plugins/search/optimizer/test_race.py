"""Races with given log-ratios of each candidate and block."""

import numpy as np
import pytest

from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy
from iostudy_search.optimizer.race import Race, RaceStatus, run_race

RULES = SearchPolicy(first=4, slots=4)
WOBBLE = 0.01 * np.array([1, -1, -1, 1, 1, -1, 1, -1, -1, 1, 1, -1])


def candidate(*workloads: list[float], refused: bool = False, name: str = "x") -> CandidateResult:
    return CandidateResult(
        {"name": name}, tuple(np.array(own, dtype=float) for own in workloads), refused
    )


def steady(effect: float, blocks: int, *, start: int = 0, shift: int = 0) -> list[float]:
    wobble = np.roll(WOBBLE, shift)[start : start + blocks]
    return [np.nan] * start + list(effect + wobble)


def standings(found: Race) -> list[RaceStatus]:
    return [entrant.status for entrant in found.entrants]


def test_before_the_first_block_all_are_to_run():
    found = run_race([candidate(), candidate()], RULES)
    assert found.runs == (0, 1)
    assert found.free == 2
    assert found.incumbent is None
    assert np.isnan(found.entrants[0].estimate)
    assert not found.entrants[0].is_known


def test_without_candidates_every_slot_is_free():
    found = run_race([], RULES)
    assert (found.entrants, found.runs, found.free) == ((), (), 4)


def test_one_block_decides_nothing_as_long_as_no_noise_is_known():
    found = run_race([candidate([0.2]), candidate([-0.9])], RULES)
    assert standings(found) == [RaceStatus.RACING] * 2
    assert found.incumbent == 0
    assert np.isnan(found.entrants[1].error)


def test_a_clearly_worse_candidate_is_dropped_for_good():
    bad, good = steady(-0.3, 2), steady(0.1, 2, shift=1)
    found = run_race([candidate(bad), candidate(good)], RULES)
    assert standings(found) == [RaceStatus.WORSE, RaceStatus.RACING]
    assert found.runs == (1,)
    assert found.free == 3
    # However wild the blocks after it: it was judged by those of its time.
    later = run_race([candidate(bad), candidate([*good, 5.0, -5.0])], RULES)
    assert standings(later) == [RaceStatus.WORSE, RaceStatus.RACING]


def test_a_candidate_is_judged_at_its_rungs_only():
    veteran = steady(0.1, 8)
    third = [*steady(0.1, 2, shift=1), -5.0]
    assert (
        standings(run_race([candidate(veteran[:3]), candidate(third)], RULES))[1]
        is RaceStatus.RACING
    )
    fourth = [*third, -5.0]
    sharp = SearchPolicy(first=4, slots=4, level=0.3)
    assert (
        standings(run_race([candidate(veteran[:4]), candidate(fourth)], sharp))[1]
        is RaceStatus.WORSE
    )


def test_a_newcomer_can_go_after_a_single_block_once_the_noise_is_known():
    found = run_race([candidate(steady(0.1, 8)), candidate(steady(-0.2, 1, start=8))], RULES)
    assert standings(found) == [RaceStatus.FINISHED, RaceStatus.WORSE]


def test_a_lucky_first_block_does_not_make_an_incumbent():
    found = run_race([candidate(steady(0.1, 8)), candidate(steady(0.5, 1, start=8))], RULES)
    assert found.incumbent == 0
    assert standings(found) == [RaceStatus.FINISHED, RaceStatus.RACING]
    later = run_race([candidate(steady(0.1, 8)), candidate([np.nan] * 4 + [0.5] * 8)], RULES)
    assert later.incumbent == 1


def test_the_default_wins_without_a_better_candidate():
    found = run_race([candidate(steady(-0.001, 8)), candidate(steady(-0.002, 8, shift=1))], RULES)
    assert standings(found) == [RaceStatus.FINISHED] * 2
    assert found.incumbent is None
    assert found.runs == ()


def test_all_blocks_are_the_last_rung():
    rules = SearchPolicy(first=4, slots=4, rungs=(1, 3))
    found = run_race([candidate(steady(0.1, 3))], rules)
    assert standings(found) == [RaceStatus.FINISHED]


def test_a_workload_that_clearly_suffers_ends_it():
    rules = SearchPolicy(first=4, slots=4, worst=-0.05)
    found = run_race(
        [candidate(steady(0.5, 2), steady(-0.4, 2)), candidate(steady(0.1, 2), steady(0.1, 2))],
        rules,
    )
    assert standings(found) == [RaceStatus.UNFIT, RaceStatus.RACING]
    assert found.incumbent == 1


def test_a_workload_that_seems_to_suffer_keeps_it_from_winning():
    rules = SearchPolicy(first=4, slots=4, worst=-0.05)
    wild = list(-0.06 + 10 * WOBBLE[:8])
    found = run_race(
        [candidate(steady(0.5, 8), wild), candidate(steady(0.1, 8), steady(0, 8))], rules
    )
    assert standings(found) == [RaceStatus.FINISHED] * 2
    assert [entrant.eligible for entrant in found.entrants] == [False, True]
    assert found.incumbent == 1


def test_weights_decide_between_workloads():
    candidates = [
        candidate(steady(0.2, 4), steady(-0.1, 4)),
        candidate(steady(0.0, 4), steady(0.1, 4)),
    ]
    assert run_race(candidates, SearchPolicy(first=4, slots=4, weights=(3, 1))).incumbent == 0
    assert run_race(candidates, SearchPolicy(first=4, slots=4, weights=(1, 3))).incumbent == 1
    with pytest.raises(ValueError, match="3 weights for 2 workloads"):
        run_race(candidates, SearchPolicy(first=4, slots=4, weights=(1, 3, 1)))


def test_refused_candidates_take_no_part():
    found = run_race([candidate(refused=True), candidate([0.9], refused=True), candidate()], RULES)
    assert standings(found) == [RaceStatus.REFUSED, RaceStatus.REFUSED, RaceStatus.RACING]
    assert found.runs == (2,)
    assert found.incumbent is None


def test_no_more_run_than_there_are_slots():
    found = run_race([candidate() for _ in range(6)], RULES)
    assert found.runs == (0, 1, 2, 3)
    assert found.free == 0


def test_a_candidate_counts_the_blocks_that_it_ran_with_every_workload():
    found = run_race([candidate([0.1, 0.1], [0.1])], RULES)
    assert found.entrants[0].blocks == 1


def test_blocks_of_the_default_alone_change_nothing():
    plain = run_race([candidate(steady(0.1, 4)), candidate(steady(-0.3, 2, shift=1))], RULES)
    led = run_race(
        [candidate([np.nan, *steady(0.1, 4)]), candidate([np.nan, *steady(-0.3, 2, shift=1)])],
        RULES,
    )
    assert plain == led
