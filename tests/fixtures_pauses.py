"""Pauses of a study without waiting."""

from __future__ import annotations

import pytest


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that a study would have waited for a quieter machine; no time passes."""
    waited: list[float] = []
    monkeypatch.setattr("iostudy.execution.runner.time.sleep", waited.append)
    return waited
