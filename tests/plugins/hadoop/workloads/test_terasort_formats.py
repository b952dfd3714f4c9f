"""Hadoop and iostudy on each other's rows."""

from __future__ import annotations

import shutil

import pytest
from benches import hadoop

from iostudy.workloads import catalog
from iostudy.workloads.workload import Place

ROWS = 25_001


@pytest.fixture
def run(java, distribution, tmp_path):
    examples = hadoop.Examples(java, distribution.classpath)

    def run(program, *arguments, **given):
        examples.run(f"terasort.{program}", *arguments, between=tmp_path / "tmp", **given)

    return run


@pytest.fixture
def sorting():
    definition = catalog.get("terasort")
    return definition.make(definition.options.model_validate({"rows": ROWS, "parts": 3}))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def test_rows_are_the_bytes_of_teragen(run, sorting, place, tmp_path):
    run("TeraGen", ROWS, tmp_path / "theirs")  # in one part, with the local runner
    sorting.prepare(place)
    ours = b"".join(path.read_bytes() for path in sorted((tmp_path / "tera-in").glob("part-*")))
    assert (tmp_path / "theirs/part-m-00000").read_bytes() == ours


def test_teravalidate_accepts_what_was_sorted_with_the_same_checksum(run, sorting, place, tmp_path):
    sorting.prepare(place)
    sorting.run(place)
    run("TeraValidate", tmp_path / "tera-out", tmp_path / "report")
    made = (tmp_path / "tera-checksum").read_text()
    assert (tmp_path / "report/part-r-00000").read_text() == f"checksum\t{made}\n"


def test_teravalidate_accepts_output_of_terasort(run, place, tmp_path):
    definition = catalog.get("teravalidate")
    workload = definition.make(definition.options.model_validate({"rows": ROWS}))
    workload.prepare(place)
    shutil.move(tmp_path / "tera-out", tmp_path / "sorted")
    run("TeraSort", tmp_path / "sorted", tmp_path / "tera-out", reduces=2)
    workload.run(place)
