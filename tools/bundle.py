"""Write the JavaScript library of HTML reports into the package: ``python -m tools.bundle``."""

from __future__ import annotations

import sys

from iostudy.report.render.html import bundle_library, library_path


def main() -> int:
    """Write the library, and remove those of earlier sources."""
    path = library_path()
    for earlier in path.parent.glob("*.bundle.js"):
        earlier.unlink()
    path.write_text(bundle_library(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
