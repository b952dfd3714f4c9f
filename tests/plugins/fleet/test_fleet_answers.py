"""Mutated answers of a node are values of their types, or none."""

from __future__ import annotations

import random

import pytest

from iostudy_fleet.agent import FUNCTIONS
from iostudy_fleet.design import Design
from tests.plugins.fleet.fleet_answers import METHODS, VALUES, failure, no_pickle, run_failure


@pytest.mark.parametrize("name", [*VALUES, *METHODS])
def test_a_mutated_answer_is_data_of_its_type_or_none(name: str):
    chance = random.Random(name)
    with no_pickle():
        found = [failure(chance, name) for _ in range(40)]
    assert not any(found), found


def test_each_function_of_an_agent_is_attacked():
    assert VALUES.keys() == FUNCTIONS.keys()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("design", list(Design))
def test_a_hostile_node_ends_no_run_with_an_internal_error(design: Design):
    assert not run_failure(1, design)
