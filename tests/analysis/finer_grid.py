"""More points of the grid and the quadratures of `iostudy.analysis.t_chain`."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from iostudy.analysis import t_chain


@contextmanager
def finer_grid() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(t_chain, "GRID_POINTS", 257)
        patch.setattr(t_chain, "PHI_POINTS", 64)
        patch.setattr(t_chain, "V_POINTS", 8)
        yield
