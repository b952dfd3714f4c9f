from __future__ import annotations

from iostudy.report.render import html
from tests.report import large
from tests.report.factory import build_report


def test_a_page_of_2000_trials_can_be_sent_by_mail() -> None:
    study = large.study(blocks=50)
    report = build_report(study, large.row_of(study), large.rows(study))
    assert len(report.trials) == 2000
    assert len(html.render(report).encode()) < 3_000_000
