from __future__ import annotations

from iostudy.report.build import build_report
from iostudy.report.render import html
from tests.report import large


def test_a_page_of_2000_trials_can_be_sent_by_mail() -> None:
    asked = large.study(blocks=50)
    told = build_report(asked, large.row_of(asked), large.rows(asked))
    assert len(told.trials) == 2000
    assert len(html.render(told).encode()) < 3_000_000
