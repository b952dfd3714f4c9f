"""A user's program: its figures, its folder, and that its values are values."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.units import MIB
from iostudy.workloads.external import command
from iostudy.workloads.external.command import CommandOptions
from iostudy.workloads.external.extract import AS_PRINTED
from iostudy.workloads.workload import Place

pytestmark = pytest.mark.child

RATE = {"unit": "MiB/s", "higher_is_better": True}


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "the folder; touch x"
    folder.mkdir()
    return Place(folder, seed=7)


def make(**options):
    return command.COMMAND.make(CommandOptions.model_validate(options))


def printing(text, **options):
    return make(run=[sys.executable, "-c", f"print({text!r})"], **options)


def test_without_figures_the_exec_time_decides(place):
    options = CommandOptions(run="sleep 0.2")
    figures = command.COMMAND.figures(options)
    assert figures[0].name == "exec_time"
    readings = make(run="sleep 0.2").run(place).figures
    assert set(readings) == {figure.name for figure in figures}
    assert 0.2 <= readings["exec_time"] < 2
    assert readings["user_time"] < 0.2


def test_figures_come_in_the_order_of_the_study(place):
    figures = {"ops": {"regex": r"ops=(\S+)", **RATE}, "bw": {"regex": "bw (.*)$", **RATE}}
    running = printing("ops=12e3 bw 5\nops=13e3 bw 6.5", figures=figures)
    assert [f.name for f in command.COMMAND.figures(running.options)[:2]] == ["ops", "bw"]
    readings = running.run(place).figures
    assert (readings["ops"], readings["bw"]) == (13_000, 6.5)


def test_the_example_gives_what_it_promises(place):
    running = make(**command.COMMAND.example)
    readings = running.run(place).figures
    assert 0 < readings["copy_time"] <= readings["exec_time"]
    assert (place.directory / "zeros").stat().st_size == 64 * MIB == running.space_bytes()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("jobs[0].iops", 12.5),
        ("sum(jobs[].iops)", 20.0),
        ("text", 3.0),
        ('"a key with blanks"', 1.0),
    ],
)
def test_figures_are_taken_from_json(place, path, value):
    document = {"jobs": [{"iops": 12.5}, {"iops": 7.5}], "text": "3", "a key with blanks": 1}
    running = printing(json.dumps(document), figures={"x": {"jmespath": path, **RATE}})
    assert running.run(place).figures["x"] == value


@pytest.mark.parametrize(
    ("text", "way", "found"),
    [
        ("rate: fast", {"regex": r"rate=(\d+)"}, r"no match; the output ends with 'rate: fast"),
        ("rate: fast", {"regex": r"rate: (.*)"}, r"'fast', in 'rate: fast"),
        ("rate: nan", {"regex": r"rate: (.*)"}, r"'nan'"),
        ("rate: 1e999", {"regex": r"rate: (.*)"}, r"'1e999'"),
        ("rate: ", {"regex": r"rate: (\d+)?"}, r"None, in 'rate: "),
        ("rate: 1,234", {"regex": r"rate: (.*)"}, r"'1,234'"),
        ("", {"regex": r"(\d)"}, r"no match"),
        ('{"a": 1}', {"jmespath": "b"}, "nothing there"),
        ('{"a": true}', {"jmespath": "a"}, "True"),
        ('{"a": [1]}', {"jmespath": "a"}, r"\[1\]"),
        ('{"a": NaN}', {"jmespath": "a"}, "nan"),
        ('{"a": "x"}', {"jmespath": "sum(a)"}, "invalid type"),
        ('noise {"a": 1}', {"jmespath": "a"}, "no JSON .*ends with 'noise"),
    ],
)
def test_a_figure_that_is_not_a_number_fails_the_trial_and_is_shown(place, text, way, found):
    running = printing(text, figures={"x": {**way, **RATE}})
    with pytest.raises(WorkloadError, match=f"the figure x, a number.*\n  found: .*{found}"):
        running.run(place)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.5 GiB/s", "MiB/s", 1536),
        ("1.2 GB/sec", "MB/s", 1200),
        ("980 B/s", "kB/s", 0.98),
        ("2 Gbits/sec", "Mbit/s", 2000),
        ("12 Gbps", "Mbps", 12_000),
        ("80 Mb/s", "MB/s", 10),
        ("12 seconds", "ms", 12_000),
        ("980us", "ms", 0.98),
        ("980 KB/sec", "kB/s", 980),
        ("1.2 GB per second", "MB/s", 1200),
        ("980 MiB/s", "MiB/s", 980),
    ],
)
def test_a_number_in_another_unit_is_converted(place, text, unit, value):
    figures = {"x": {"regex": r"([\d.]+)", "unit": unit, "higher_is_better": True}}
    assert printing(text, figures=figures).run(place).figures["x"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("980 tps", AS_PRINTED),
        ("980 ops/sec", "op/s"),
        ("980 us", "us/op"),
        ("980 points", "points"),
        ("980 sheep", "ms"),
        ("980 s: sum", "ms"),
        ("980\nkB", "MB"),
        ("980 kiB", "MB"),
    ],
)
def test_what_is_no_unit_of_the_figures_kind_changes_no_number(place, text, unit):
    figures = {"x": {"regex": r"([\d.]+)", "unit": unit, "higher_is_better": True}}
    assert printing(text, figures=figures).run(place).figures["x"] == 980


@pytest.mark.parametrize(
    ("printed", "unit"),
    [
        *(("MB/s", unit) for unit in (AS_PRINTED, "ops", "kIOPS", "tps", "tx/s", "MB", "ms", "%")),
        ("MB", "MB/s"),
        ("s", "op/s"),
    ],
)
def test_a_unit_of_another_kind_ends_the_study_and_fails_no_trial(place, printed, unit):
    figures = {"x": {"regex": r"([\d.]+)", "unit": unit, "higher_is_better": True}}
    with pytest.raises(UsageError, match=f"--unit '{printed}', or `unit: {printed}`"):
        printing(f"980 {printed}", figures=figures).run(place)


def test_one_figure_that_is_missing_leaves_none(place):
    figures = {"a": {"regex": r"a=(\d)", **RATE}, "b": {"regex": r"b=(\d)", **RATE}}
    with pytest.raises(WorkloadError, match="the figure b"):
        printing("a=1", figures=figures).run(place)


def test_standard_error_is_read_only_on_request(place):
    run = ["sh", "-c", "echo n=1; echo n=2 >&2"]
    for stream, value in (("stdout", 1), ("stderr", 2)):
        figures = {"n": {"regex": r"n=(\d)", "stream": stream, **RATE}}
        assert make(run=run, figures=figures).run(place).figures["n"] == value


def test_a_figure_that_is_in_the_other_stream_is_named(place):
    for unit in (RATE["unit"], AS_PRINTED):
        figures = {"x": {"regex": r"rate=(\d)", **RATE, "unit": unit}}
        running = make(run=["sh", "-c", "echo rate=5 MB/s >&2"], figures=figures)
        with pytest.raises(WorkloadError) as caught:
            running.run(place)
        assert caught.value.remedy.startswith("it is in stderr: ")


def test_a_program_that_fails_has_no_figures(place):
    running = make(run=["sh", "-c", "echo n=1; echo disk on fire >&2; exit 3"])
    with pytest.raises(WorkloadError, match="exit code 3; it printed: disk on fire"):
        running.run(place)


def test_a_program_that_never_ends_is_ended(place):
    with pytest.raises(WorkloadError, match="within 200 ms"):
        make(run="sleep 999", limit="200ms").run(place)


def test_stop_ends_the_run(place):
    stopping = Place(place.directory, place.seed, lambda _: False)
    with pytest.raises(WorkloadStoppedError):
        make(run="sleep 999").run(stopping)


def test_placeholders_are_replaced_in_any_argument(place):
    show = "import sys; open('{target}/said', 'w').write('|'.join(sys.argv[1:]))"
    make(run=[sys.executable, "-c", show, "{seed}-{target}", "{other}{"]).run(place)
    said = (place.directory / "said").read_text()
    assert said == f"7-{place.directory}|{{other}}{{"


def test_nothing_reaches_a_shell_unasked(place):
    make(run="touch '$(touch a)' ; touch b > c").run(place)
    names = {path.name for path in place.directory.iterdir()}
    assert names == {"$(touch a)", ";", "touch", "b", ">", "c"}


def test_shell_is_optional_and_gets_the_folder_as_a_value(place):
    running = make(run='cd / && echo $IOSTUDY_SEED > "$IOSTUDY_TARGET/seed"', shell=True)
    running.run(place)
    assert [path.name for path in place.directory.iterdir()] == ["seed"]
    assert (place.directory / "seed").read_text() == "7\n"


def test_environment_and_working_directory(place, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    run = ["sh", "-c", 'pwd; test "$COLOUR" = "deep red"']
    make(run=run, environment={"COLOUR": "deep red"}, directory=str(tmp_path / "elsewhere")).run(
        place
    )
    with pytest.raises(WorkloadError, match=r"No such file.*gone"):
        make(run="true", directory="gone").run(place)


def test_setup_prepare_and_cleanup_come_in_their_order(place, tmp_path):
    log = tmp_path / "log"

    def note(word):
        return ["sh", "-c", f'echo {word} >> "$0"; touch {word}', str(log)]

    running = make(
        run=note("run"), setup=note("setup"), prepare=note("prepare"), cleanup=note("cleanup")
    )
    running.prepare(place)
    for _ in range(2):
        running.reset(place)
        running.run(place)
    assert (place.directory / "setup").exists()
    running.clean(place)
    assert log.read_text().split() == ["setup", "prepare", "run", "prepare", "run", "cleanup"]
    assert not list(place.directory.iterdir())


def test_a_trial_begins_in_an_empty_folder_unless_there_is_a_setup(place):
    running = make(run="mkdir made")
    for _ in range(2):
        running.reset(place)
        running.run(place)


def test_failures_around_the_run_are_reported(place):
    fail = ["sh", "-c", "echo no luck >&2; exit 1"]
    for step, call in (("setup", "prepare"), ("prepare", "reset"), ("cleanup", "clean")):
        (place.directory / "file").touch()
        with pytest.raises(WorkloadError, match="no luck"):
            getattr(make(run="true", **{step: fail}), call)(place)
    assert not list(place.directory.iterdir())


def test_cleaning_follows_no_link(place, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (place.directory / "link").symlink_to(tmp_path / "precious")
    make(run="true").clean(place)
    assert (tmp_path / "precious" / "file").exists()
    assert not list(place.directory.iterdir())


def test_cleaning_a_folder_that_has_vanished_is_no_error(place):
    place.directory.rmdir()
    make(run="true").clean(place)


def test_daemons_are_noted(place):
    (note,) = make(run=["sh", "-c", "sleep 333 & true"]).run(place).notes
    assert note.startswith("1 processes were running")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"run": "no-such-program x"}, "no-such-program"),
        ({"run": "true", "setup": "no-such-program"}, "no-such-program"),
        ({"run": ["/no/such/program"]}, "/no/such/program"),
        ({"run": "true", "directory": "/no/such/folder"}, "no such directory"),
        ({"run": "old/program x"}, "a relative path starts in the working directory"),
        (
            {"run": ["./program"], "directory": "/"},
            "a relative path starts in the working directory",
        ),
        ({"run": ["./program"], "directory": "sub"}, str(Path.cwd() / "program")),
    ],
)
def test_a_missing_program_or_folder_is_refused_beforehand(options, found):
    with pytest.raises(UsageError, match=found):
        make(**options).check()


@pytest.mark.parametrize(
    "options",
    [
        {"run": "true"},
        {"run": "{target}/made-by-setup"},
        {"run": "./made", "setup": "true"},
        {"run": "./made", "prepare": "true"},
        {"run": "./made", "shell": True},
        {"run": ["bin/sh", "-c", "true"], "directory": "/"},
        {"run": ["true", "{seed}"]},
    ],
)
def test_a_program_that_setup_may_create_is_not_refused(options):
    make(**options).check()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "run"),
        ({"run": ""}, "names no program"),
        ({"run": []}, "names no program"),
        ({"run": ["", "x"]}, "names no program"),
        ({"run": "echo 'x"}, "No closing quotation"),
        ({"run": ["a", "b\0c"]}, "NUL"),
        ({"run": ["true"], "shell": True}, "a text and not a list"),
        ({"run": "ls {target}", "shell": True}, "IOSTUDY_TARGET"),
        ({"run": "true", "cleanup": "ls {seed}", "shell": True}, "in cleanup"),
        ({"run": "true", "figures": {"exec_time": {"regex": "(x)", **RATE}}}, "exec_time cannot"),
        ({"run": "true", "figures": {"bytes": {"regex": "(x)", **RATE}}}, "bytes cannot"),
        ({"run": "true", "figures": {"a b": {"regex": "(x)", **RATE}}}, "a b cannot"),
        ({"run": "true", "figures": {"a": RATE}}, "give one of them"),
        ({"run": "true", "figures": {"a": {"regex": "(x)", "jmespath": "x", **RATE}}}, "one of"),
        ({"run": "true", "figures": {"a": {"regex": "x", **RATE}}}, "0 groups"),
        ({"run": "true", "figures": {"a": {"regex": "(x)|(y)", **RATE}}}, "2 groups"),
        ({"run": "true", "figures": {"a": {"regex": "(x", **RATE}}}, "unterminated"),
        ({"run": "true", "figures": {"a": {"jmespath": "a[", **RATE}}}, "not a JMESPath"),
        ({"run": "true", "figures": {"a": {"regex": "(x)", "unit": "s"}}}, "higher_is_better"),
        ({"run": "true", "environment": {"A=B": "c"}}, "A=B cannot"),
        ({"run": "true", "limit": "never"}, "not a time"),
    ],
)
def test_options_that_cannot_work_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        make(**options)


@given(st.lists(st.text(), min_size=1))
def test_any_argument_list_is_kept_or_refused(arguments):
    try:
        options = CommandOptions.model_validate({"run": arguments})
    except ValidationError:
        assert not arguments[0] or any("\0" in each for each in arguments)
    else:
        assert options.run == tuple(arguments)
        again = CommandOptions.model_validate(options.model_dump(mode="json"))
        assert tuple(shlex.split(again.run)) == options.run


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_read_as_it_is_printed(number):
    from iostudy.workloads.external.program import Output, Program, ProgramResult

    extract = command.Extract.model_validate({"regex": r"x=(\S+)", **RATE})
    program = Program(("true",), Place(None, 0).directory, 1.0)
    ended = ProgramResult(program, 0, Output(f"x=1 x={number!r}\n"), Output(""), 0, 0, 0, 0, 0)
    assert extract.reading("x", ended) == number
