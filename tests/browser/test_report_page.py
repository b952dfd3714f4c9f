"""The report in a real browser: drawn, silent, at home on a phone, deaf to hostile strings."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iostudy.analysis.slow_runs import SlowRuns
from iostudy.analysis.verdict import Verdict
from iostudy.report.render.chart_files import write_report_files
from iostudy.report.values import Report
from iostudy.telemetry import summary
from iostudy.telemetry.iostat import compute_iostat_figures
from iostudy.visible import visible
from tests.report.factory import (
    build_report,
    disturbed,
    factor,
    outlying,
    report,
    rows,
    study,
    study_row,
)
from tests.report.factory import (
    two_factors as build_two_factors,
)
from tests.report.parted import cells
from tests.report.parted import parted_report as build_parted_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

two_factors = cache(build_two_factors)
parted_report = cache(build_parted_report)

DRAWN = "html[data-charts=drawn]"
HOSTILE = (
    "</script><script>window.ran=1</script><img src=x onerror='window.ran=1'>\"'`${1}{{7*7}}"
    "\u202egnp.txt\x1b[31m\x07" + "word" * 40
)

_INSIDE = """(own) => {
  const box = own.getBoundingClientRect();
  return box.left >= 0 && box.right <= document.documentElement.clientWidth
    && own.scrollWidth <= own.clientWidth + 1;
}"""
_MEASURE = """(charts) => charts.map((chart) => [
  chart.getBoundingClientRect().width,
  chart.querySelector("svg").getBoundingClientRect().width,
  chart.querySelectorAll(".mark-symbol path").length,
])"""


@dataclass
class PageLog:
    """Errors of a page, and every address that it requested."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@cache
def full_report() -> Report:
    experiment = study()
    return build_report(experiment, study_row(experiment), disturbed(outlying(rows(experiment))))


@cache
def hostile_report() -> Report:
    """Hostile strings wherever a string of others can come in."""
    experiment = study(factor("block.scheduler", "none", HOSTILE), question=HOSTILE, text=HOSTILE)
    circumstances = {HOSTILE: {HOSTILE: [HOSTILE], "host_name": HOSTILE}}
    figures = compute_iostat_figures(Counter(reads=1, io_ms=500), 1.0)
    hostile = summary.TelemetrySummary(1.0, {HOSTILE: figures}, {})
    trials = [
        replace(row, reason=HOSTILE, notes=(HOSTILE,), summary=hostile) for row in rows(experiment)
    ]
    trials[0] = replace(trials[0], counts=False)
    return build_report(experiment, study_row(experiment, circumstances), trials)


def opened(
    browser: Browser, report: Report, folder: Path, width: int = 1280, **options: Any
) -> tuple[Page, PageLog]:
    """The page of a report; ``options`` as of a browser's page."""
    write_report_files(report, folder)
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    log = PageLog()
    page.on("console", lambda message: log.errors.append(message.text))
    page.on("pageerror", lambda error: log.errors.append(str(error)))
    page.on("request", lambda request: log.requests.append(request.url))
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector(DRAWN, state="attached")
    return page, log


@pytest.fixture(scope="module", params=[360, 1280])
def full(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Page, PageLog]]:
    """A report with everything in it, on a phone and on a screen; for tests that only look."""
    page, log = opened(browser, full_report(), tmp_path_factory.mktemp("full"), request.param)
    yield page, log
    page.close()


def test_the_page_opens_without_errors_or_requests(full: tuple[Page, PageLog]) -> None:
    page, log = full
    assert log.errors == []
    assert log.requests == [page.url]


def test_every_chart_is_drawn_within_its_place(full: tuple[Page, PageLog]) -> None:
    page, _ = full
    charts = page.locator(".chart")
    assert charts.count() >= 6
    for place, drawing, marks in charts.evaluate_all(_MEASURE):
        assert 0.9 * place < drawing <= place
        assert marks > 1


def test_every_trial_is_a_point(full: tuple[Page, PageLog]) -> None:
    page, _ = full
    trials = [t for t in full_report().trials if t.workload == "file-writes"]
    points = page.locator("#run-order-1 .mark-symbol path[aria-roledescription=point]")
    crosses = sum(not t.counts for t in trials)
    rings = sum(t.slow for t in trials)
    assert points.count() == sum(t.value is not None for t in trials) + crosses + rings


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_written_in_the_ink_of_the_page(full: tuple[Page, PageLog], scheme: str) -> None:
    page, _ = full
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    ink = page.evaluate("getComputedStyle(document.body).color")
    label = page.locator("#run-order-1 .role-axis-label text").first
    assert label.evaluate("(text) => getComputedStyle(text).fill") == ink


def empty_report() -> Report:
    return report(blocks=0)


@pytest.mark.parametrize("make", [full_report, hostile_report, empty_report, parted_report])
def test_the_page_does_not_scroll_sideways_on_a_phone(
    browser: Browser, tmp_path: Path, make: Callable[[], Report]
) -> None:
    page, _ = opened(browser, make(), tmp_path, width=360)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.close()


def test_a_long_command_and_a_long_line_of_the_study_are_folded(
    browser: Browser, tmp_path: Path
) -> None:
    long = "x" * 120
    texts = {"reproduce": (f"run `iostudy run {long}.yaml --seed 1`",), "study_text": f"a: {long}"}
    page, _ = opened(browser, full_report().model_copy(update=texts), tmp_path, width=400)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    assert page.locator("pre").evaluate("(pre) => pre.scrollWidth <= pre.clientWidth")
    page.close()


def test_a_verdict_of_one_side_has_the_colour_of_no_difference(
    browser: Browser, tmp_path: Path
) -> None:
    """Not worse is no loss, and not better is no gain."""
    (first, *others), words = full_report().workloads, iter(Verdict)
    results = tuple(
        own if own.baseline else own.model_copy(update={"verdict": next(words, own.verdict)})
        for own in first.results * 3
    )
    workloads = (first.model_copy(update={"results": results}), *others)
    page, _ = opened(browser, full_report().model_copy(update={"workloads": workloads}), tmp_path)
    colours = dict(
        page.locator("table.verdicts th.verdict").evaluate_all(
            "(cells) => cells.map((cell) => [cell.className, getComputedStyle(cell).color])"
        )
    )
    assert colours["label verdict not worse"] == colours["label verdict equivalent"]
    assert colours["label verdict not better"] == colours["label verdict equivalent"]
    assert len(set(colours.values())) == 4
    page.close()


def fragile(report: Report) -> Report:
    """The same report with the longest verdict there is, and slow runs."""
    first, *others = report.workloads
    ranks = {"fragile": True, "slow": SlowRuns(slow=3, runs=20, at_most=0.344)}
    baseline, *compared = first.results
    results = (baseline, *(result.model_copy(update=ranks) for result in compared))
    first = first.model_copy(update={"results": results})
    return report.model_copy(update={"workloads": (first, *others)})


@pytest.mark.parametrize(("width", "height", "bars"), [(390, 844, 1), (1280, 800, 2)])
def test_the_first_screen_has_the_chart(
    browser: Browser, tmp_path: Path, width: int, height: int, bars: int
) -> None:
    page, _ = opened(browser, two_factors(), tmp_path, width)
    page.set_viewport_size({"width": width, "height": height})
    for bar in page.locator(".forest .point").all()[:bars]:
        assert bar.bounding_box()["y"] < height  # type: ignore[index]
    page.close()


@pytest.fixture(scope="module", params=[390, 695, 1280])
def long_labels(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """A report of two factors, whose labels are long."""
    page, _ = opened(
        browser, fragile(two_factors()), tmp_path_factory.mktemp("long"), request.param
    )
    yield page
    page.close()


def test_verdicts_on_long_labels_fit_the_page(long_labels: Page) -> None:
    ranking = long_labels.locator("section[aria-labelledby=ranking] .scroll").first
    verdicts = long_labels.locator(".scroll:has(.verdicts):has(th:text-is('verdict'))").all()
    assert len(verdicts) == 2
    assert "vs geometric mean" in (ranking.text_content() or "")
    for place in (ranking, *verdicts):
        assert place.evaluate("(place) => place.scrollWidth <= place.clientWidth")
    for place in verdicts:
        assert "worse" in place.inner_text() or "inconclusive" in place.inner_text()


def test_charts_distinguish_long_labels(long_labels: Page) -> None:
    labels = {configuration.label for configuration in two_factors().configurations}
    figure = long_labels.locator("figure:has(#run-order-1)")
    entries = figure.locator(".legend li").all()
    assert {entry.inner_text().partition(" ")[2] for entry in entries} == labels
    for entry in entries:
        assert entry.evaluate(_INSIDE)
    assert long_labels.locator(".role-legend").count() == 0


def test_the_forest_plot_has_every_comparison_and_nothing_is_cut(long_labels: Page) -> None:
    rows = long_labels.locator(".forest tbody tr:not(.group)")
    assert rows.count() == sum(len(own.results) - 1 for own in two_factors().workloads)
    assert long_labels.locator(".forest .bar").count() == rows.count()
    for place in long_labels.locator(".forest th, .forest td, .forest .tick").all():
        assert place.evaluate(_INSIDE)


def test_an_interval_is_drawn_where_the_axis_has_it(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, two_factors(), tmp_path)
    worse = page.locator(".forest tr.worse").first
    zero, bar, point = (
        page.locator(".forest .tick", has_text=re.compile("^0$")).bounding_box(),
        worse.locator(".bar").bounding_box(),
        worse.locator(".point").bounding_box(),
    )
    assert zero is not None and bar is not None and point is not None
    assert bar["x"] < point["x"] + point["width"] / 2 < bar["x"] + bar["width"]
    assert bar["x"] + bar["width"] < zero["x"]
    page.close()


def test_the_load_event_waits_for_the_charts(browser: Browser, tmp_path: Path) -> None:
    """Printing without a window starts at that event."""
    write_report_files(full_report(), tmp_path)
    page = browser.new_page()
    page.add_init_script(
        "addEventListener('load', "
        "() => { window.atLoad = document.documentElement.dataset.charts; })"
    )
    page.goto((tmp_path / "report.html").as_uri(), wait_until="load")
    assert page.evaluate("window.atLoad") == "drawn"
    assert page.locator("iframe").count() == 0
    page.close()


def test_a_table_that_must_scroll_says_so(browser: Browser, tmp_path: Path) -> None:
    page, log = opened(browser, two_factors(), tmp_path, width=390)
    page.locator("details:has(.scroll) > summary").first.click()
    page.wait_for_selector("details[open] .scroll.scrolls")
    assert page.locator(".scroll.scrolls:has(.verdicts)").count() == 0
    hint = "(place) => getComputedStyle(place, '::before').content"
    assert "scrolls sideways" in page.locator(".scroll.scrolls").first.evaluate(hint)
    assert log.errors == []
    page.close()


def test_hostile_strings_are_shown_and_do_not_run(browser: Browser, tmp_path: Path) -> None:
    page, log = opened(browser, hostile_report(), tmp_path)
    page.locator(".chart .mark-symbol path").first.hover(force=True)
    assert page.evaluate("window.ran") is None
    assert page.locator("h1").inner_text() == visible(HOSTILE)
    assert not set("\u202e\x1b\x07") & set(page.locator("body").inner_text())
    assert page.locator("img").count() == 0
    assert log.errors == []
    assert log.requests == [page.url]
    page.close()


def test_the_policy_stops_a_script_that_got_in(browser: Browser, tmp_path: Path) -> None:
    page, log = opened(browser, full_report(), tmp_path)
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        "document.body.append(s)"
    )
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in error for error in log.errors)
    page.close()


def test_the_download_is_the_json_report(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, full_report(), tmp_path)
    page.click("nav a[href='#raw']")
    with page.expect_download() as download:
        page.click("#download")
    got = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert got == json.loads((tmp_path / "report.json").read_text("utf-8"))
    page.close()


def trials_csv(browser: Browser, report: Report, folder: Path) -> list[dict[str, str]]:
    page, log = opened(browser, report, folder)
    page.click("nav a[href='#raw']")
    with page.expect_download() as download:
        page.click("#csv")
    text = Path(download.value.path()).read_text("utf-8")
    assert log.errors == []
    page.close()
    return list(csv.DictReader(text.splitlines(keepends=True), strict=True))


def test_the_trials_can_be_had_as_csv(browser: Browser, tmp_path: Path) -> None:
    report = full_report()
    got = trials_csv(browser, report, tmp_path)
    assert [row["configuration"] for row in got] == [t.configuration for t in report.trials]
    assert float(got[0]["value"]) == report.trials[0].value
    assert float(got[0]["device.%util"]) == report.trials[0].devices["loop0"]["%util"]
    assert got[-1]["value"] == ""
    assert got[0]["settings.block.scheduler@loop0"] == report.trials[0].configuration


def test_no_text_in_the_csv_is_a_formula(browser: Browser, tmp_path: Path) -> None:
    experiment = study()
    texts = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", '=1,"a"\n=2']
    trials = [
        replace(row, reason=text, counts=False, settings={text: "x"}, figures={"bandwidth": -5.0})
        for row, text in zip(rows(experiment, blocks=6), texts, strict=False)
    ]
    found = trials_csv(browser, build_report(experiment, study_row(experiment), trials), tmp_path)
    assert [row["reason"] for row in found] == [f"'{text}" for text in texts]
    assert {row["value"] for row in found} == {"-5"}


@pytest.mark.parametrize(
    ("make", "width", "scheme"),
    [
        (full_report, 1280, "light"),
        (full_report, 1280, "dark"),
        (full_report, 360, "light"),
        (parted_report, 1280, "light"),  # the shades of its cells depend on the scheme
        (parted_report, 1280, "dark"),
        (hostile_report, 360, "light"),
    ],
)
def test_axe_finds_nothing_serious(
    browser: Browser, tmp_path: Path, make: Callable[[], Report], width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page, _ = opened(browser, make(), tmp_path, width, color_scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    # One example of what each rule finds right: to describe them all takes most of the time.
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response
    assert found["passes"]
    assert [(own["id"], own["impact"]) for own in found["violations"]] == []
    page.close()


def test_the_first_key_leads_to_the_answer(full: tuple[Page, PageLog]) -> None:
    page, _ = full
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    assert page.locator(".skip").evaluate("(link) => link.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_folded_sections_are_printed_unless_they_are_long(browser: Browser, tmp_path: Path) -> None:
    experiment = study()
    report = build_report(experiment, study_row(experiment), rows(experiment, blocks=20) * 4)
    page, _ = opened(browser, report, tmp_path, color_scheme="dark")
    folded = page.locator("details:not([open])").count()
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 2
    assert not page.locator("details.long").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == folded
    page.close()


def test_latencies_are_drawn_and_the_cells_of_a_matrix_are_shaded(
    browser: Browser, tmp_path: Path
) -> None:
    page, log = opened(browser, build_parted_report(cells(["write", "read"])), tmp_path)
    assert log.errors == []
    for number in (1, 2, 3):
        chart = page.locator(f"#latency-1-{number}")
        assert chart.locator(".mark-line path").count() == 4
        assert chart.locator(".mark-symbol path[aria-roledescription=point]").count() == 20
    shades = page.locator(".heat td").evaluate_all(
        "(cells) => cells.map((cell) => getComputedStyle(cell).backgroundColor)"
    )
    assert len(set(shades)) > 50
    page.close()


def test_a_table_that_is_wider_by_a_rounding_has_no_hint(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, two_factors(), tmp_path, 1280)
    scroll = page.locator(".scroll:has(.verdicts)").first
    for more, hinted in ((1, False), (20, True), (1, False)):
        scroll.evaluate(
            """(place, more) => {
              place.querySelector("table").style.minWidth = "900px";
              place.style.boxSizing = "border-box";
              place.style.width = `${place.offsetWidth - place.clientWidth + 900 - more}px`;
            }""",
            more,
        )
        page.wait_for_timeout(200)
        assert ("scrolls" in (scroll.get_attribute("class") or "").split()) is hinted
    page.close()
