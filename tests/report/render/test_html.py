from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser

import pytest

from iostudy.report.render import html, json_
from iostudy.report.values import Report
from tests.report.factory import report, two_factors
from tests.report.parted import JOBS, cells, parted_report


class Page(HTMLParser):
    """Elements with their attributes, and the text of scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(text)

    def unpacked(self, name: str) -> str:
        """The text that is packed in a script element."""
        return gzip.decompress(base64.b64decode(self.scripts[name])).decode()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._script = dict(attrs).get("id") or "main" if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._script = None


@pytest.fixture(scope="module")
def example() -> Report:
    return report()


@pytest.fixture(scope="module")
def text(example: Report) -> str:
    return html.render(example)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_html_report_is_below_its_size_limit(text: str) -> None:
    assert len(text.encode()) < 512 * 1024


def test_html_report_loads_no_external_resource(page: Page) -> None:
    for tag, attributes in page.elements:
        assert "src" not in attributes, tag
        if tag == "link":
            assert attributes["href"] == "data:,"
        if tag == "a":
            assert (attributes["href"] or "").startswith("#")


def test_only_its_own_script_may_run(page: Page) -> None:
    policy = next(
        attributes["content"] or ""
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = (page.scripts["main"], page.unpacked("library"))
    digests = [base64.b64encode(hashlib.sha256(own.encode()).digest()).decode() for own in scripts]
    assert f"script-src 'sha256-{digests[0]}' 'sha256-{digests[1]}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy


def test_the_raw_data_are_the_json_report(page: Page, example: Report) -> None:
    assert json.loads(page.unpacked("data")) == json.loads(json_.render(example))


def test_every_chart_has_its_place_and_a_text_for_those_who_cannot_see_it(page: Page) -> None:
    places = {
        attributes["id"]: attributes.get("aria-label")
        for _, attributes in page.elements
        if attributes.get("class") == "chart"
    }
    assert set(places) == set(json.loads(page.unpacked("charts"))["charts"])
    assert all(places.values())


def test_answer_precedes_the_first_table(text: str) -> None:
    assert text.index("scheduler=kyber is better") < text.index("<table")


def test_headings_go_down_one_level_at_a_time(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_every_header_cell_has_a_scope(page: Page) -> None:
    headers = [attributes for tag, attributes in page.elements if tag == "th"]
    assert headers
    assert all("scope" in attributes for attributes in headers)


def test_markup_in_foreign_text_is_escaped(example: Report) -> None:
    hostile = "\"'></script></style><script>alert(1)</script><img src=x onerror=alert(1)>"
    fields = ("question", "study_text", "name", "noun", "baseline", "device", "iostudy_version")
    made = Page(html.render(example.model_copy(update=dict.fromkeys(fields, hostile))))
    assert [tag for tag, _ in made.elements].count("script") == 4
    assert "img" not in [tag for tag, _ in made.elements]
    assert all(hostile in json.loads(made.unpacked("data"))[field] for field in fields)


def test_the_estimate_of_needed_blocks_is_explained_with_a_row_of_the_table() -> None:
    made = html.render(report(blocks=6))
    assert "Blocks: 6 of ≈20 means 6 run" in made
    assert made.count(" means 6 run") == 1


@pytest.fixture(scope="module")
def two_factor_page() -> str:
    return html.render(two_factors())


def test_a_baseline_of_several_levels_is_quoted_in_sentences(two_factor_page: str) -> None:
    made, label = two_factor_page, two_factors().baseline
    assert f"shares with “{label}”, in percent" in made
    assert f"Change against “{label}”." in made
    assert f"is compared with “{label}” by a typical" in made


def test_the_chart_replaces_the_sentences_by_workload(two_factor_page: str) -> None:
    example = two_factors()
    answer, _, rest = two_factor_page.partition('<section class="forest"')
    sentences = [str(html._FILTERS["unbroken"](each)) for each in example.answer]
    assert [each in answer for each in sentences] == [False] * (len(sentences) - 1) + [True]
    assert all(each in rest for each in sentences[:-1])


def test_the_chart_explains_the_marks_of_its_verdicts(two_factor_page: str) -> None:
    marked = two_factors()
    futile = marked.workloads[0].results[1].model_copy(update={"futile": True})
    results = (marked.workloads[0].results[0], futile, *marked.workloads[0].results[2:])
    workload = marked.workloads[0].model_copy(update={"results": results})
    changed = marked.model_copy(update={"workloads": (workload, *marked.workloads[1:])})
    explanation = "Futile: ended early, with little chance of a verdict."
    assert explanation in html.render(changed)
    assert explanation not in two_factor_page


def test_a_level_may_wrap_before_its_value(two_factor_page: str) -> None:
    assert ">record_size=<wbr>64KiB</span>" in two_factor_page
    assert ",</span> <span" in two_factor_page
    assert "</span>, <span" not in two_factor_page


def test_a_study_without_trials_makes_a_page_too() -> None:
    page = Page(html.render(report(blocks=0)))
    assert json.loads(page.unpacked("charts"))["charts"] == {}


def test_latencies_have_charts_and_parts_heat_maps() -> None:
    made = html.render(parted_report(cells(["write", "read"])))
    page = Page(made)
    charts = json.loads(page.unpacked("charts"))["charts"]
    assert {"latency-1-1", "latency-1-2", "latency-1-3"} <= set(charts)
    heats = [a for tag, a in page.elements if tag == "table" and a.get("class") == "heat"]
    assert len(heats) == 2 * 4
    assert "Not used for verdicts" in made
    assert 'style="background: rgb(47 127 193 / 0.620)"' in made


def test_parts_that_are_no_matrix_have_a_table() -> None:
    page = Page(html.render(parted_report(JOBS)))
    labels = [attributes.get("aria-label") for _, attributes in page.elements]
    assert "Table: rate of each part, KiB/s on file-reads" in labels
    assert not [a for _, a in page.elements if a.get("class") == "heat"]


def test_labels_of_parts_and_operations_stay_text() -> None:
    hostile = "\"'></td></script><script>alert(1)</script><img src=x onerror=alert(1)>"
    labels = [{"operation": hostile, "file_size": hostile, "record_size": hostile}]
    report = parted_report(labels)
    latencies = [
        one.model_copy(update={"operation": hostile}) for one in report.workloads[0].latencies
    ]
    workload = report.workloads[0].model_copy(update={"latencies": tuple(latencies)})
    made = Page(html.render(report.model_copy(update={"workloads": (workload,)})))
    assert [tag for tag, _ in made.elements].count("script") == 4
    assert "img" not in [tag for tag, _ in made.elements]
    assert json.loads(made.unpacked("charts"))["charts"]["latency-1-1"]["title"] == hostile
