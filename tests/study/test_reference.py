"""Published figures: every file is whole, and its names are those of iostudy's workloads."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from iostudy.study import reference
from iostudy.study.reference import Publication
from iostudy.workloads import catalog
from tests.study.files import GOOD, only_problem, problems, read


@pytest.mark.parametrize("name", reference.names())
def test_every_publication_can_stand_beside_a_study(name: str) -> None:
    published = reference.get(name)
    assert published.caveats
    assert published.circumstances
    seen = {(f.configuration, f.workload, f.figure) for f in published.figures}
    assert len(seen) == len(published.figures)
    for figure in published.figures:
        definition = catalog.get(figure.workload)
        example = definition.options.model_validate(definition.example)
        assert definition.figure(figure.figure, example).unit
        assert published.baseline_value(figure) is not None


def test_r1_as_it_was_published() -> None:
    published = reference.get("R1")
    values = {(f.figure, f.configuration): f.value for f in published.figures}
    assert values["throughput", "before"] == 0.85347
    assert values["io_rate_stddev", "after"] == 0.17143
    assert values["exec_time", "after"] == 705.386
    assert {figure.runs for figure in published.figures} == {1}


def test_r5_as_it_was_published() -> None:
    published = reference.get("R5")
    values = {(f.figure, f.configuration): f.value for f in published.figures}
    assert len(values) == 2 * 4 * 5
    assert values["events", "HDFS at 20 jobs"] == 161_103
    assert values["read_rate", "Lustre at 60 jobs"] == 358
    assert values["events", "AFS over XFS at 80 jobs"] == 214_410
    assert {(f.figure, f.unit) for f in published.figures} == {
        ("events", "events"),
        ("read_rate", "MB/s"),
    }


def test_a_study_names_one() -> None:
    assert read(GOOD + "reference: R1\n").reference == "R1"
    assert read(GOOD).reference is None


def test_a_name_that_nobody_has_published_under() -> None:
    problem = only_problem("decide:", "reference: R9\ndecide:")
    assert (problem.message, problem.found) == ("unknown reference", "R9")
    assert "R1" in problem.allowed
    (problem,) = problems(GOOD + "reference: [R1]\n")
    assert problem.path == "reference"


def test_what_a_file_of_figures_may_not_say() -> None:
    told = reference.get("R1").model_dump()
    with pytest.raises(ValidationError):
        Publication.model_validate({**told, "expected": True})
