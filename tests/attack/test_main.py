"""The program that runs every campaign."""

from __future__ import annotations

import importlib

import pytest

from tests.attack.__main__ import names


@pytest.mark.all_plugins
def test_every_campaign_can_be_run() -> None:
    """A helper among the campaigns ended ``make attack`` before it printed its counts."""
    assert {"hadoop", "studies"} <= set(names())
    for module in names().values():
        assert callable(importlib.import_module(module).run)
