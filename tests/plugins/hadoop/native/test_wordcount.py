"""Tests of word counts against a Counter, and of errors for invalid input texts."""

from __future__ import annotations

import math
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import ValidationError

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place

MIB = 1 << 20
SMALL = {"size": "2MiB", "memory": "2MiB"}


def make(**options):
    definition = catalog.get("wordcount")
    return definition.make(definition.options.model_validate(options))


def prepared(place, **options):
    workload = make(**options)
    workload.check()
    workload.prepare(place)
    workload.reset(place)
    return workload


def counted(place: Place) -> Counter[bytes]:
    lines = [
        line.split(b"\t")
        for path in (place.directory / "words-out").glob("part-r-*")
        for line in path.read_bytes().split(b"\n")[:-1]
    ]
    assert len({word for word, _ in lines}) == len(lines)
    return Counter({word: int(count) for word, count in lines})


def test_made_text_is_counted_and_nothing_is_left(place):
    workload = prepared(place, **SMALL, reducers=3)
    texts = sorted((place.directory / "words-in").glob("part-m-*"))
    assert sum(path.stat().st_size for path in texts) == 2 * MIB
    measured = workload.run(place)
    expected = Counter(b" ".join(path.read_bytes() for path in texts).split())
    assert counted(place) == expected
    figures = measured.figures
    assert set(figures) == {f.name for f in catalog.get("wordcount").figures(workload.options)}
    assert all(value > 0 and math.isfinite(value) for value in figures.values())
    assert figures["distinct"] == len(expected)
    assert figures["rate"] == pytest.approx(2 / figures["exec_time"])
    assert figures["words_per_second"] == pytest.approx(expected.total() / figures["exec_time"])
    assert sum(count for _, count in measured.latencies["read"]) > 0
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_trials_of_a_block_count_the_same_text(place):
    first = prepared(place, **SMALL)
    first.run(place)
    other = make(**SMALL, threads=1, reducers=5)
    assert other.preparation() == first.preparation()
    other.reset(place)
    other.run(place)
    assert make(size="3MiB").preparation() != first.preparation()


def test_texts_of_the_user_are_counted_and_not_touched(place, tmp_path):
    texts = {"a.log": b"one two\n\xff\xfe two", "b.log": b"", "c.txt": b"three\ttwo"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    patterns = (str(tmp_path / "*.log"), str(tmp_path / "c.txt"), str(tmp_path / "a.log"))
    workload = prepared(place, input=patterns, memory="2MiB")
    measured = workload.run(place)
    assert counted(place) == {b"one": 1, b"two": 3, b"\xff\xfe": 1, b"three": 1}
    assert set(measured.figures) == {
        figure.name for figure in catalog.get("wordcount").figures(workload.options)
    }
    assert "bytes" not in measured.figures
    workload.clean(place)
    assert not list(place.directory.iterdir())
    assert {name: (tmp_path / name).read_bytes() for name in texts} == texts


def test_texts_that_are_not_there_are_refused(tmp_path):
    for name in ("missing", "*.none"):
        with pytest.raises(UsageError, match="no such file"):
            make(input=[str(tmp_path / name)]).check()
    with pytest.raises(UsageError, match="no regular file"):
        make(input=["/dev/zero"]).check()


def test_a_spill_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="it does not exist"):
        make(spill=[str(tmp_path / "missing")]).check()


def test_a_changed_text_is_found(place):
    workload = prepared(place, **SMALL)
    path = place.directory / "words-in" / "part-m-00002"
    with path.open("r+b") as file:
        file.seek(100_000)
        file.write(b"intruder")
    with pytest.raises(WorkloadError, match="read back what was written") as caught:
        workload.run(place)
    assert "checksum" in str(caught.value)
    assert not (place.directory / "words-out").exists()


def test_a_word_too_long_for_the_memory_is_named_as_the_users(place, tmp_path):
    text = tmp_path / "binary"
    text.write_bytes(b"x" * MIB)
    workload = prepared(place, input=[str(text)], memory="2MiB")
    with pytest.raises(WorkloadError, match="give more memory") as caught:
        workload.run(place)
    assert "at byte 0" in str(caught.value)


def test_vanishing_folder_is_reported(place):
    workload = prepared(place, **SMALL)
    (place.directory / "words-in" / "part-m-00001").unlink()
    (place.directory / "words-in" / "part-m-00001").mkdir()
    with pytest.raises(WorkloadError):
        workload.run(place)


def test_the_tick_stops_the_run(place):
    workload = prepared(place, size="64MiB")
    with pytest.raises(WorkloadStoppedError):
        workload.run(Place(place.directory, place.seed, lambda _: False))
    workload.clean(place)
    assert not list(place.directory.iterdir())


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tiny", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


RARE = {"size": "4MiB", "memory": "2MiB", "vocabulary": "1M", "exponent": 0}


@pytest.mark.root
def test_full_spill_folder_has_a_remedy(place):
    workload = prepared(place, **RARE)
    spill = place.directory / "spill"
    with small_disk(spill, "1m"):
        with pytest.raises(WorkloadError, match="make room"):
            make(**RARE, spill=[str(spill)]).run(place)
        assert not list(spill.iterdir())
    workload.clean(place)


@pytest.mark.root
def test_full_output_folder_has_a_remedy(place, tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk, "6m"):
        full = Place(disk, seed=7)
        workload = prepared(full, **RARE, spill=[str(place.directory)])
        with pytest.raises(WorkloadError, match="make room") as caught:
            workload.run(full)
        assert "words-out" in str(caught.value)
        assert [path.name for path in disk.iterdir() if path.is_dir()] == ["words-in"]
        workload.clean(full)
        assert not list(disk.iterdir())
    assert not list(place.directory.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0},
        {"files": 0},
        {"memory": "1MiB"},
        {"memory": "4MiB", "threads": 8},
        {"exponent": -1},
        {"vocabulary": 0},
        {"input": ["relative.txt"]},
        {"spill": ["relative"]},
        {"colour": "red"},
    ],
)
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(ValidationError):
        make(**options)


def test_the_own_texts_are_compared_by_size_and_time(tmp_path):
    (tmp_path / "a.log").write_text("one two")
    (tmp_path / "b.log").write_text("three")
    workload = make(input=[f"{tmp_path}/*.log"])
    ((name, before),) = workload.contents()
    assert name == f"{tmp_path}/*.log"
    assert list(workload.contents()) == [(name, before)]
    (tmp_path / "b.log").write_text("three four")
    assert list(workload.contents()) != [(name, before)]
    assert list(make(**SMALL).contents()) == []
