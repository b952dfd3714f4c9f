from __future__ import annotations

import json
import math

from iostudy.report.render import json_
from tests.json_schema import assert_conforms
from tests.report.factory import build_report, disturbed, report, rows, study, study_row


def test_schema_is_the_first_field() -> None:
    document = json.loads(json_.render(report()))
    assert next(iter(document.items())) == ("schema", "iostudy.report/3")


def test_every_document_has_exactly_the_fields_of_the_schema() -> None:
    document = json.loads(json_.render(report()))
    assert_conforms(document, json_.build_schema())


def test_json_contains_no_nan_or_infinity() -> None:
    experiment = study()
    circumstances = {"host": {"load": math.nan, "limit": -math.inf}}
    text = json_.render(
        build_report(experiment, study_row(experiment, circumstances), disturbed(rows(experiment)))
    )

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert json.loads(text, parse_constant=refuse)["circumstances"]["host"]["load"] is None


def test_raw_figures_are_not_rounded() -> None:
    experiment = study()
    trials = rows(experiment)
    document = json.loads(json_.render(report()))
    assert [t["value"] for t in document["trials"]] == [
        (t.figures or {})["bandwidth"] for t in trials
    ]
