"""Charts by the schema of Vega-Lite."""

from __future__ import annotations

from typing import Any


def require_valid(spec: dict[str, Any]) -> None:
    """Raise altair's error unless the chart is one of Vega-Lite."""
    import altair  # takes as long as a hundred tests, and few of them need it

    altair.LayerChart.from_dict(spec, validate=True)
