"""Tests of the page of a screening in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_report_page import opened
from tests.plugins.search.screening.test_topic import report, screening_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_second_label_of_a_card_has_its_head(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, report(screening_study()), tmp_path, 390)
    heads = "(label) => getComputedStyle(label, '::before').content"
    labels = page.locator("[aria-label^='Table'] .verdicts tr:has(td)").first.locator("th").all()
    assert [label.evaluate(heads) for label in labels] == ["none", '"against: "']
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_screening_is_a_chart_of_effects_without_a_legend_of_runs(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    experiment = screening_study()
    page, log = opened(browser, report(experiment, bfq=-0.2, true=0.1), tmp_path, width)
    labels = page.locator(".forest tbody tr:not(.group) .label").all_inner_texts()
    assert labels[:2] == ["scheduler=bfq", "direct=true"]
    assert page.locator(".legend").count() == 0
    assert log.errors == []
    page.close()
