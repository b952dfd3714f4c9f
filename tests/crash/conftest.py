from pathlib import Path

import pytest

from tests.fixtures_loop import loop, state_dir

__all__ = ["loop", "state_dir"]


@pytest.fixture(autouse=True)
def _own_state(state_dir: Path) -> None:
    """No test touches the journals of this host."""
