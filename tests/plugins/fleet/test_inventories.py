"""Mutants of inventories and hostile ones are taken without a traceback, soon and small."""

from __future__ import annotations

import random

import pytest

from tests.attack.studies import MUTATIONS
from tests.plugins.fleet.inventories import INI, YAML, failure, hostile


@pytest.mark.child
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutant_is_nodes_or_an_error(name: str):
    chance = random.Random(name)
    for suffix, text, other in (("", INI, YAML), (".yml", YAML, INI)):
        mutant = MUTATIONS[name](chance, text, other).encode("utf-8", "surrogateescape")
        assert not failure(mutant, suffix)


@pytest.mark.child
def test_a_hostile_inventory_is_nodes_or_an_error():
    found = [f"{name}: {failure(text.encode(), suffix)}" for name, suffix, text in hostile()]
    assert [own for own in found if not own.endswith(": ")] == []
