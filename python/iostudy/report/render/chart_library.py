"""JavaScript library of the HTML report's charts: Vega, Vega-Lite and vega-embed as one file."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from iostudy.extras import require_extra
from iostudy.report.drawing import schema_version

_FOLDER = Path(__file__).parent / "templates"
_SOURCE = _FOLDER / "charts.js"


@functools.cache
def read_library() -> str:
    """Return the library that the build wrote, else bundle it, which takes over a second."""
    path = library_path()
    return path.read_text("utf-8") if path.is_file() else bundle_library()


def library_path() -> Path:
    """Return the path of the built library: its name changes with its sources and Vega-Lite."""
    sources = f"{schema_version()}\n{_SOURCE.read_text('utf-8')}"
    return _FOLDER / f"charts-{hashlib.sha256(sources.encode()).hexdigest()[:16]}.bundle.js"


def bundle_library() -> str:
    """Bundle the library with the lines that draw the charts of a page."""
    require_extra("figures", "bundle the charts of HTML reports", "a built wheel contains them")
    import vl_convert  # not at the top: a built library needs no bundler

    bundled: str = vl_convert.javascript_bundle(
        _SOURCE.read_text("utf-8"), vl_version=schema_version()
    )
    return bundled
