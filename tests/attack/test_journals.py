"""A fast part of the campaign against journals."""

from __future__ import annotations

import random

import pytest

from tests.attack import journals

DRAW = random.Random(1)


def test_flipped_bit_is_reported_or_harmless() -> None:
    assert journals.flip_bits(2, 300, DRAW).failures == []


def test_truncated_journal_is_reported_or_harmless() -> None:
    assert journals.cut(7).failures == []


@pytest.mark.child
def test_a_killed_owner_is_no_damage() -> None:
    assert journals.kill(2, 40, DRAW).failures == []


@pytest.mark.root
def test_a_forged_journal_is_not_believed() -> None:
    assert journals.forge().failures == []
