from __future__ import annotations

from iostudy.report.render import html
from tests.report import large
from tests.report.factory import build_report


def test_a_page_of_many_trials_can_be_sent_by_mail() -> None:
    """A trial takes about 750 bytes, beside 550 kB of code and charts."""
    study = large.study(blocks=25, workloads=1)
    report = build_report(study, large.row_of(study), large.rows(study))
    assert len(report.trials) == 200
    assert len(html.render(report).encode()) < 750_000
