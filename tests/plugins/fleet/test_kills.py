"""A few moments of the campaign of kills; `make fleet-kills` has a hundred."""

from __future__ import annotations

import threading

import pytest

from tests.plugins.fleet.kills import run_moments
from tests.plugins.fleet.namespaces import needs_sshd

SEEDS = (200, 201, 202)
"""A node with its watchdog, a controller, and a link while nodes run together."""


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.process
@needs_sshd
def test_a_loss_leaves_nothing_behind_and_changes_no_analysis(capsys: pytest.CaptureFixture[str]):
    outcomes = run_moments(SEEDS, fleets=1, ended=threading.Event())
    assert [own for own in outcomes if own.failed] == [], capsys.readouterr().out
