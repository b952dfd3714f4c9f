"""``study/study.schema.json`` of the package: ``python -m tests.study.schema_file`` writes it."""

from __future__ import annotations

from pathlib import Path

import iostudy.study
from iostudy.study.json_schema import as_text

FILE = Path(iostudy.study.__path__[0]) / "study.schema.json"

if __name__ == "__main__":
    FILE.write_text(as_text())
