"""Table of docs/method/calibration.md on slow noise that two configurations feel unequally."""

from __future__ import annotations

from iostudy.analysis.rule import Rule
from tests.calibration.rows import Row, percent
from tests.calibration.unequal_slow import find_winners_by_feeling

TRIALS = Rule(margin=1e-6, risk=0.05, min_blocks=5, max_blocks=30)
EXAMINED, STUDIES = 500, 400


def felt_unequally() -> list[Row]:
    """False winners where one feels slow noise more strongly, in one study and in six sessions."""
    rows: list[Row] = [
        ("felt by the other", "one study", "of these flagged", "ratio reported", "six sessions")
    ]
    for times in (1.0, 1.1, 1.2):
        found = find_winners_by_feeling(times, TRIALS, STUDIES, sessions=6, most=EXAMINED)
        rates = (percent(found.study), percent(found.flagged))
        rows.append((f"{times:g} times", *rates, f"{found.ratio:.2f}", percent(found.sessions)))
    return rows


TABLES = (felt_unequally,)
