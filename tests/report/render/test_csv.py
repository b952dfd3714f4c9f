"""CSV of the runs of a study."""

from __future__ import annotations

import csv
import io

from iostudy.report.render import csv_
from tests.report.factory import build_report, disturbed, rows, study, study_row


def test_every_run_has_a_row_with_its_figure() -> None:
    own = study()
    trials = disturbed(rows(own, blocks=5))
    found = list(
        csv.DictReader(io.StringIO(csv_.render(build_report(own, study_row(own), trials))))
    )
    assert len(found) == len(trials)
    first, *_, invalid, interrupted = found
    assert first["time"].startswith("2026-") and first["time"].endswith("+00:00")
    assert (first["block"], first["figure"], first["unit"]) == ("1", "bandwidth", "MiB/s")
    assert float(first["value"]) == (trials[0].figures or {})["bandwidth"]
    assert first["flags"] == ""
    assert invalid["flags"] == "invalid not-counted"
    assert (interrupted["value"], interrupted["flags"]) == ("", "interrupted not-counted")
