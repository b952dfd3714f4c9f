"""Published figures: every file is whole, and its names are those of iostudy's workloads."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from iostudy.study import library, reference
from iostudy.study.reference import Publication
from iostudy.study.requests import build_request
from iostudy.workloads import catalog
from tests.study.files import GOOD, only_problem, problems, read


@pytest.mark.parametrize("name", reference.names())
def test_every_publication_can_be_compared_with_a_study(name: str) -> None:
    published = reference.get(name)
    assert published.caveats
    assert published.circumstances
    keys = {(f.configuration, f.workload, f.figure, f.load) for f in published.figures}
    assert len(keys) == len(published.figures)
    assert any(figure.configuration == published.baseline for figure in published.figures)


@pytest.mark.parametrize("name", ["R1", "R4", "R5"])
@pytest.mark.all_plugins
def test_the_workloads_and_figures_of_iostudys_own_are_called_so(name: str) -> None:
    published = reference.get(name)
    for figure in published.figures:
        definition = catalog.get(figure.workload)
        example = definition.options.model_validate(definition.example)
        assert definition.figure(figure.own or figure.figure, example).unit
        assert published.baseline_value(figure) is not None


@pytest.mark.parametrize("name", reference.names())
@pytest.mark.all_plugins
def test_what_answers_an_item_is_in_each_of_its_studies(name: str) -> None:
    for item in reference.get(name).items:
        for study in map(library.load_ready_made, item.studies):
            labels = {own.label for own in study.configurations()}
            assert set(item.configurations) <= labels, item.item
            assert item.workload in ("", *(own.label for own in study.workloads)), item.item


def test_r1_as_it_was_published() -> None:
    published = reference.get("R1")
    values = {(f.figure, f.configuration): f.value for f in published.figures}
    assert values["throughput", "before"] == 0.85347
    assert values["io_rate_stddev", "after"] == 0.17143
    assert values["exec_time", "after"] == 705.386
    assert {figure.runs for figure in published.figures} == {1}


def test_r2_as_it_was_published() -> None:
    published = reference.get("R2")
    values = {(f.figure, f.configuration): f.value for f in published.figures}
    assert values == {
        ("open_rate", "no log"): 126_119,
        ("create_rate", "1 local disk"): 5_710,
        ("rename_rate", "1 local disk"): 8_400,
        ("delete_rate", "1 local disk"): 20_690,
        ("opens_per_create", "1 local disk"): 22,
        ("create_rate", "1 NFS disk"): 5_600,
        ("rename_rate", "1 NFS disk"): 8_290,
        ("delete_rate", "1 NFS disk"): 12_090,
        ("create_rate", "1 NFS filer"): 5_676,
        ("rename_rate", "1 NFS filer"): 8_134,
        ("delete_rate", "1 NFS filer"): 21_100,
        ("create_rate", "4 local disks"): 5_210,
        ("create_rate", "3 local disks and 1 NFS"): 5_150,
    }
    units = {(f.workload, f.figure == "opens_per_create", f.unit) for f in published.figures}
    assert units == {("nnthroughput", False, "op/s"), ("nnthroughput", True, "op")}
    assert any("12,090" in caveat for caveat in published.caveats)


def test_r3_as_it_was_published() -> None:
    published = reference.get("R3")
    values = {
        name: {f.figure: f.value for f in published.figures if f.configuration == name}
        for name in ("RAID0 of 2 disks", "sdx of the RAID0", "RAID10 of 36 disks", "one SSD")
    }
    assert values["RAID0 of 2 disks"] == {"w/s": 7690, "wMB/s": 30.04}
    assert values["sdx of the RAID0"] == {
        "rrqm/s": 49,
        "wrqm/s": 3047,
        "r/s": 222,
        "w/s": 888,
        "rMB/s": 6.25,
        "wMB/s": 15.37,
        "avgrq-sz": 39.90,
        "avgqu-sz": 4.02,
        "await": 3.50,
        "svctm": 0.85,
        "%util": 94.30,
    }
    assert values["RAID10 of 36 disks"] == {"w/s": 65_955, "wMB/s": 257.64, "%util": 60}
    assert values["one SSD"] == {
        "wrqm/s": 30_508,
        "w/s": 481,
        "wMB/s": 118.58,
        "avgrq-sz": 504.88,
        "await": 9.99,
        "%util": 77.2,
    }
    assert sum(map(len, values.values())) == len(published.figures)


def test_r4_as_it_was_published() -> None:
    published = reference.get("R4")
    assert {(f.configuration, f.value, f.unit) for f in published.figures} == {
        ("noop", 113, "s"),
        ("cfq", 112, "s"),
        ("deadline", 117, "s"),
        ("anticipatory", 123, "s"),
    }


def test_r5_as_it_was_published() -> None:
    published = reference.get("R5")
    values = {(f.figure, f.configuration, f.load): f.value for f in published.figures}
    assert published.load == "jobs"
    assert len(values) == 2 * 4 * 5
    assert values["events", "HDFS", 20] == 161_103
    assert values["read_rate", "Lustre", 60] == 358
    assert values["events", "AFS over XFS", 80] == 214_410
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


def test_invalid_files_of_published_figures_are_refused() -> None:
    fields = reference.get("R1").model_dump()
    with pytest.raises(ValidationError):
        Publication.model_validate({**fields, "expected": True})


@pytest.mark.all_plugins
def test_figures_of_the_modelled_program_are_references_of_a_workload():
    (create, *_) = (f for f in reference.get("R2").figures if f.figure == "create_rate")
    own = build_request("nnthroughput", catalog.get("nnthroughput").options())
    real = build_request("hadoop.nnthroughput", catalog.get("hadoop.nnthroughput").options())
    assert (create.is_of(own), create.is_modelled(own)) == (True, False)
    assert (create.is_of(real), create.is_modelled(real)) == (False, True)
    named = build_request("hadoop.nnthroughput", real.options, label="nnthroughput")
    assert (create.is_of(named), create.is_modelled(named)) == (True, False)
