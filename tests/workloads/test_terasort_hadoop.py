"""Hadoop and iostudy on each other's rows; needs java and the folder IOSTUDY_HADOOP_LIB of jars."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from iostudy.workloads import catalog
from iostudy.workloads.definition import Place

JARS = os.environ.get("IOSTUDY_HADOOP_LIB")
ROWS = 25_001
pytestmark = pytest.mark.skipif(
    JARS is None or shutil.which("java") is None,
    reason="IOSTUDY_HADOOP_LIB names no folder with the jars of Hadoop, or java is missing",
)


@pytest.fixture
def hadoop(tmp_path):
    def run(program, *arguments, **given):
        options = {"fs.defaultFS": "file:///", "hadoop.tmp.dir": tmp_path / "tmp", **given}
        main_class = f"org.apache.hadoop.examples.terasort.{program}"
        command = ["java", "-cp", f"{JARS}/*", main_class]
        command += [f"-D{key}={value}" for key, value in options.items()]
        command += [str(each) for each in arguments]
        subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)

    return run


@pytest.fixture
def sorting():
    definition = catalog.get("terasort")
    return definition.make(definition.options.model_validate({"rows": ROWS, "parts": 3}))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def test_rows_are_the_bytes_of_teragen(hadoop, sorting, place, tmp_path):
    hadoop("TeraGen", ROWS, tmp_path / "theirs")  # in one part, with the local runner
    sorting.prepare(place)
    ours = b"".join(path.read_bytes() for path in sorted((tmp_path / "tera-in").glob("part-*")))
    assert (tmp_path / "theirs/part-m-00000").read_bytes() == ours


def test_teravalidate_accepts_what_was_sorted_with_the_same_checksum(
    hadoop, sorting, place, tmp_path
):
    sorting.prepare(place)
    sorting.run(place)
    hadoop("TeraValidate", tmp_path / "tera-out", tmp_path / "report")
    made = (tmp_path / "tera-checksum").read_text()
    assert (tmp_path / "report/part-r-00000").read_text() == f"checksum\t{made}\n"


def test_what_terasort_has_sorted_is_valid(hadoop, place, tmp_path):
    definition = catalog.get("teravalidate")
    workload = definition.make(definition.options.model_validate({"rows": ROWS}))
    workload.prepare(place)
    shutil.move(tmp_path / "tera-out", tmp_path / "sorted")
    hadoop("TeraSort", tmp_path / "sorted", tmp_path / "tera-out", **{"mapreduce.job.reduces": 2})
    workload.run(place)
