"""Tests of the text that fio parses: no line of it makes fio do more than parse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import UsageError
from iostudy.workloads.external import fio_job, program
from iostudy.workloads.external.fio_text import ENGINES, find_refusals, rewrite

OTHER_ENGINES = [
    "ioengine=/evil.so",
    "ioengine=./evil.so",
    "ioengine=evil.so",
    "ioengine=external:/evil.so",
    "ioengine = /evil.so",
    "ioengine\t=/evil.so",
    " \t\v\f ioengine=/evil.so",
    "ioengine=/evil.so\r",
    "ioengine=/evil.so ; comment",
    "ioengine=sync:/evil.so",
    "ioengine=/evil.so\nioengine=sync",
    "ioengine= sync",
    "ioengine=SYNC",
    "ioengine=aio-evil.so",
    "ioengine=$ncpus",
    "ioengine=${EVIL}",
    "ioengine=${EVIL",
    "ioengine=$${NOTHING}{EVIL}",
    "ioengine=",
    "ioengine",
    "rw=read\n[global]\nioengine=/evil.so",
    "include evil.fio",
    "include\tevil.fio",
    "include outer.fio",
]
NO_PARAMETERS = [
    "${PARAMETER}",
    "${NOTHING}ioengine=/evil.so",
    "$ioengine=/evil.so",
    "ioengine\u3000=/evil.so",
]
OTHERS = {
    "ioengine\r=/evil.so": "control character",
    "ioengine\x01=/evil.so": "control character",
    "description=x\0": "control character",
    "description=${TWO_LINES}": "control character",
    "description=${COMMENT}": "begin a comment",
    "filename=$${NOTHING}{HOME}/x": "a variable within a variable",
    "description=" + 4095 * "x" + "ioengine=/evil.so": "longer than the 4094 bytes",
    "description=" + 2045 * "é": "longer than the 4094 bytes",
    "[" + 8190 * "x" + "ioengine=/evil.so": "longer than the 4094 bytes",
    "include=evil.fio": "includes no file",
    "includes evil.fio": "includes no file",
    "include nothing.fio": "includes no file",
    "include sections.fio": "includes no file",
    "include itself.fio": "includes no file",
    "include .": "includes no file",
    "verify_pattern='/dev/watchdog'": "takes a pattern from a file",
    "buffer_pattern=0xff'pattern'": "takes a pattern from a file",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    variables = {
        "EVIL": "/evil.so",
        "PARAMETER": "ioengine=/evil.so",
        "TWO_LINES": "x\nioengine=/evil.so",
        "COMMENT": "a;b",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    files = {
        "evil.fio": "; comment\nioengine=/evil.so\n",
        "outer.fio": "include evil.fio\n",
        "sections.fio": "bs=4k\n[other]\n",
        "itself.fio": "include itself.fio\n",
        "twice.fio": "include twice.fio\n" * 2,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def refusals(folder, text, **override):
    return list(find_refusals(rewrite(text, folder, override)))


def test_only_engines_that_work_on_files_are_parsed_in_any_spelling(folder):
    for line in OTHER_ENGINES:
        (refusal,) = refusals(folder, f"[a]\nrw=read\n{line}\nhipri=1\n")
        assert refusal.startswith("ioengine"), line
        assert refusal.endswith("does not work on files; take one of those that do"), line
    for engine in ENGINES:
        assert refusals(folder, f"[a]\r\nioengine={engine} # comment\r\n") == []


def test_a_line_has_the_name_of_a_parameter(folder):
    for line in NO_PARAMETERS:
        (refusal,) = refusals(folder, f"[a]\n{line}\n")
        assert refusal.endswith("is no parameter and no section"), line


def test_what_fio_would_read_in_another_way_is_refused(folder):
    for line, reason in OTHERS.items():
        (refusal,) = refusals(folder, f"[a]\n{line}\n")
        assert reason in refusal, line[:80]
        assert len(refusal) < 200


def test_files_that_include_one_another_end(folder):
    (refusal,) = set(refusals(folder, "[a]\ninclude twice.fio\n"))
    assert "one of at most 256" in refusal


def test_values_of_variables_and_keywords_are_those_of_fio(folder, monkeypatch):
    monkeypatch.setenv("SIZE", "1m")
    lines = rewrite(
        "[a-${SIZE}]\nsize=${SIZE}${NOTHING}\nfilename_format=$jobname.$filenum\nbs=4*$pagesize\n",
        folder,
        {"io_size": "2*${SIZE}"},
    )
    assert lines == [
        "[a-${SIZE}]",
        "size=1m",
        "filename_format=$jobname.$filenum",
        "bs=4*$pagesize",
        "io_size=2*1m",
    ]
    assert list(find_refusals(lines)) == []


def test_an_override_may_replace_the_engine_and_is_checked_itself(folder):
    text = "[global]\nioengine=/evil.so\n[a]\ninclude evil.fio\n"
    assert refusals(folder, text, ioengine="sync") == []
    (refusal,) = refusals(folder, "[a]\n", ioengine="/evil.so")
    assert refusal.startswith("ioengine=/evil.so does not")


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(["=", " = ", "\t=", "\r="]))
def test_no_text_before_a_foreign_engine_hides_it(tmp_path_factory, before, equals):
    folder = tmp_path_factory.getbasetemp()
    text = f"[a]\n{before}\nioengine{equals}/evil.so\n"
    assert any("ioengine" in refusal for refusal in refusals(folder, text))


def test_fio_does_not_start_with_a_foreign_engine(folder, monkeypatch):
    monkeypatch.setattr(program, "run", lambda _: pytest.fail("fio was started"))
    (folder / "job.fio").write_text("[a]\ninclude evil.fio\nhipri=1\n")
    given = ["fio", "--name=a", "--ioengine", "/evil.so", "--hipri=1"]
    command = fio_job.parse_command_line(given, folder)
    for job in (str(folder / "job.fio"), command.job, "[a]\nioengine=/evil.so\n"):
        with pytest.raises(UsageError) as error:
            fio_job.read(job, {})
        assert error.value.wanted == "a fio job file to run"
        assert error.value.found == (
            "ioengine=/evil.so does not work on files; take one of those that do"
        )
        assert error.value.where.endswith("job.fio" if job.startswith("/") else "job")
        assert error.value.remedy == "take those out of the job file, or override them"
