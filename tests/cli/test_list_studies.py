"""Tests of ``list`` and ``clean``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.cli import list_studies, report_output
from iostudy.errors import UnsafePathError
from iostudy.folders import UNSAFE_FOLDERS_OPTION
from tests.cli.program import Program

GOOD = {"started_at": 1.7e9, "question": "why?", "headline": "so", "state": "complete"}
TIMES = ("1e300", "1e17", "-1e17", "NaN", "1" + "0" * 400)


def test_a_report_that_cannot_be_read_hides_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = json.dumps(GOOD)
    texts = ["[" * 200_000, "5", *(report.replace("1700000000.0", time) for time in TIMES)]
    for number, text in enumerate((*texts, report)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "report.json").write_text(text)
    list_studies.list_studies(tmp_path)
    output = capsys.readouterr()
    assert output.out.count("why?") == 1
    assert len(output.err.splitlines()) == len(texts)


def test_a_folder_that_fails_hides_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list_studies._read_study

    def fail(path: Path) -> list_studies._ListedStudy:
        if path.name == "broken":
            raise ValueError("a defect")
        return read(path)

    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(list_studies, "_read_study", fail)
    results = tmp_path / "results"
    for name in ("broken", "good"):
        (results / name).mkdir(parents=True)
        (results / name / "report.json").write_text(json.dumps(GOOD))
    list_studies.list_studies(results)
    output = capsys.readouterr()
    assert output.out.count("why?") == 1
    assert f"{results / 'broken'}: internal error: ValueError: a defect" in output.err
    assert len(list((tmp_path / "state").glob("crash-*"))) == 1


@pytest.mark.child
def test_studies_are_listed_and_failed_ones_removed(program: Program) -> None:
    done = program("try", "true", "sleep 0.05", "--max-time", "5s", "--out", "results/good")
    assert done.returncode == 0, done.stderr
    results = program.folder / "results"
    (results / "empty").mkdir()
    (results / "other").mkdir()
    (results / "other" / "mine.txt").write_text("")
    listed = program("list")
    assert listed.returncode == 0, listed.stderr
    assert "Does it matter whether sleep 0.05 or true runs?" in listed.stdout
    assert "results/good" in listed.stdout
    assert "results/empty" not in listed.stdout
    refused = program("clean")
    assert refused.returncode != 0
    cleaned = program("clean", "--yes")
    assert cleaned.stdout.split() == ["results/empty"]
    assert sorted(path.name for path in results.iterdir()) == ["good", "other"]


@pytest.mark.child
def test_a_study_without_its_report_is_listed_by_its_ledger(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("try", "true", "sleep 0.05", "--max-time", "10s", "--out", "results/known")
    assert program(*command).returncode == 0
    listed = program("list").stdout
    assert "results/known\n" in listed
    (program.folder / "results/known/report.json").unlink()  # it is written at the end
    assert program("list").stdout == listed

    def refuse(*_: object) -> None:
        raise AssertionError("samples are read for a headline")

    monkeypatch.setattr(report_output, "read_samples", refuse)
    list_studies._read_study(program.folder / "results/known")


def test_a_folder_that_others_can_change_is_not_cleaned_and_the_remedy_works(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(UnsafePathError) as caught:
        list_studies.clean(folder, yes=True)
    assert UNSAFE_FOLDERS_OPTION not in caught.value.remedy, "clean has no such option"
    folder.chmod(0o755)
    list_studies.clean(folder, yes=True)


@pytest.mark.child
def test_an_empty_folder_without_a_study_next_to_it_stays(program: Program) -> None:
    (program.folder / "media" / "disk").mkdir(parents=True)
    assert program("clean", "media", "--yes").returncode == 0
    assert (program.folder / "media" / "disk").is_dir()


@pytest.mark.child
def test_a_missing_folder_is_named(program: Program) -> None:
    done = program("list", "none")
    assert done.returncode == 2
    assert "none" in done.stderr
