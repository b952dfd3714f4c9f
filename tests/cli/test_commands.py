"""Tests of every command as a user calls it: output streams and exit codes."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.program import LOOPBACK, study

WITHOUT_ROOT = """\
question: Which?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 1MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [3, 4]}
"""


@pytest.mark.interpreter
def test_check_prints_the_plan_and_changes_nothing(program):
    done = program("check", "quickstart", "--full")
    assert done.returncode == 0, done.stderr
    assert "loop-back disk of 1GiB" in done.stdout or "without" in done.stdout
    assert "block.read_ahead_kb" in done.stdout or "without" in done.stdout
    assert list(program.folder.iterdir()) == []


def test_study_reports_its_results_in_every_format(program):
    program.write(WITHOUT_ROOT)
    done = program.run_study("--seed", "7")
    assert done.returncode == 0, done.stderr
    assert "1MiB" in done.stdout
    assert "file-reads" in done.stdout
    assert "seed 7" in done.stderr
    assert {"report.html", "report.md", "report.json", "ledger.sqlite"} <= {
        path.name for path in program.out.iterdir()
    }
    document = json.loads(program("report", "out", "--format", "json").stdout)
    assert document == json.loads((program.out / "report.json").read_text())
    assert document["method"]["seed"] == 7
    whole = program("report", "out").stdout
    sentence = "".join(json.loads(program("run", "out", "--resume", "--json").stdout)["answer"])
    assert whole.startswith(sentence[:60])
    assert len(done.stdout.splitlines()) <= 24
    assert len(whole) > len(done.stdout)
    assert "latency" in whole
    assert "<html" in program("report", "out", "--format", "html").stdout
    assert "| verdict |" in program("report", "out", "--format", "markdown").stdout
    drawn = program("report", "out", "--figures", "figures")
    assert (drawn.returncode, drawn.stdout) == (0, whole)
    assert "figures are in figures" in drawn.stderr
    assert (program.folder / "figures/intervals-file-reads.svg").read_text().startswith("<svg")
    refused = program("report", "out", "--figures", "study.yaml")
    assert (refused.returncode, refused.stdout) == (2, "")  # as --out: a usage error
    assert "not a directory" in refused.stderr.lower()
    assert "remedy: " in refused.stderr
    assert program.residue() == []


UNDECIDABLE = """\
question: Which?
target: .
factors: {workload.run: {one: [sleep, 0.02], other: [sleep, 0.020]}}
workloads: [{command: {limit: 1min}}]
decide: {margin: 0.001%, risk: 0.011%, blocks: [3, 4]}
"""
"""No difference to find, a margin below the noise, and the smallest risk."""


@pytest.mark.child
def test_verdict_sets_the_exit_code_only_on_request(program):
    program.write(UNDECIDABLE)
    assert program.run_study().returncode == 0
    done = program("run", "study.yaml", "--out", "other", "--fail-on", "inconclusive")
    assert done.returncode == 1
    assert "inconclusive" in done.stdout


def test_bench_prints_figures_with_units(program):
    options = ["-o", "size=1MiB"]
    screen = program("bench", "io", "-o", "operation=write", *options)
    assert "bandwidth " in screen.stdout
    assert len(screen.stdout.splitlines()) <= 24
    assert all(len(line) <= 80 for line in screen.stdout.splitlines())
    done = program("bench", "io", "-o", "operation=write", *options, "--full")
    assert done.returncode == 0, done.stderr
    assert "MiB/s" in done.stdout
    assert re.search(r"bytes +1\.00 +MiB ", done.stdout)
    assert not re.search(r"\de[+-]\d|kB", done.stdout)
    assert re.search(r"write, up to us +share, %", done.stdout)
    limit = r"^(The bottleneck is unclear|.* was the bottleneck): "
    assert re.search(limit, done.stdout, re.MULTILINE)
    document = json.loads(program("bench", "io", *options, "--json").stdout)
    assert document["latencies_us"]["read"]["percentiles"]["max"] > 0
    assert document["parts"] == []
    assert document["figures"]["bandwidth"]["unit"] == "MiB/s"
    assert document["figures"]["bytes"]["value"] == 1 << 20
    assert program.residue() == []


@pytest.mark.parametrize("command", ["settings", "workloads"])
def test_catalogues(program, command):
    done = program(command)
    assert done.returncode == 0
    names = [entry["name"] for entry in json.loads(program(command, "--json").stdout)]
    assert names
    assert all(name in done.stdout for name in names)


def test_defaults_of_workloads_are_written_as_in_a_study_file(program):
    output = program("workloads", "io").stdout
    (line, *_) = [w for w in output.splitlines() if " size " in w]
    assert "256MiB" in line


@pytest.mark.parametrize("command", ["settings", "workloads"])
def test_off_a_terminal_nothing_is_folded(program, command):
    wide = program(command).stdout
    program.env["COLUMNS"] = "40"
    assert program(command).stdout == wide


def test_escape_sequences_of_study_files_are_escaped(program):
    program.write(WITHOUT_ROOT.replace("Which?", '"\\e[31mWhich?"').replace("64KiB", '"\\e[5m"'))
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 2
    assert r"level \x1b[5m: not a size" in done.stderr
    program.write(WITHOUT_ROOT.replace("Which?", '"\\e[31mWhich?"'))
    assert r"\x1b[31mWhich?" in program("check", "study.yaml", "--full").stdout


@pytest.mark.root
def test_get_set_and_restore(program, loop):
    get = ("get", "block.scheduler", "--on", loop, "--json")
    before = json.loads(program(*get).stdout)[f"block.scheduler@{loop}"]["value"]
    wanted = "none" if before != "none" else "bfq"
    done = program("set", f"block.scheduler={wanted}", "--on", loop)
    assert done.returncode == 0, done.stderr
    assert "until `iostudy restore`" in done.stderr
    assert json.loads(program(*get).stdout)[f"block.scheduler@{loop}"]["value"] == wanted
    restored = program("restore")
    assert restored.returncode == 0
    assert "restored" in restored.stderr
    assert json.loads(program(*get).stdout)[f"block.scheduler@{loop}"]["value"] == before
    assert "nothing to restore" in program("restore").stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("get", "block.sheduler"), "did you mean block.scheduler?"),
        (("set", "block.scheduler"), "has no value"),
        (("set", "block.scheduler=fast"), "none, mq-deadline"),
        (("set", "block.read_ahead_kb=-1"), "0 to 1048576"),
        (("workloads", "iozne"), "did you mean iozone?"),
        (("bench", "iozne"), "did you mean iozone?"),
        (("bench", "io", "-o", "size=1 gigabyte"), "not a size"),
        (("bench", "io", "-o", "sise=1GiB"), "the options are operation, read_percent"),
        (("bench", "io", "-o", "files"), "has no value"),
        (("bench", "io", "--target", "/no/such/place"), "does not exist"),
        (
            ("bench", "io", "-o", "siz=1MiB"),
            "siz: unknown option, did you mean size?",
        ),
        (
            ("bench", "io", "-o", "files=0"),
            "files: out of range; allowed: 1 or more",
        ),
        (("report", "/no/such/place"), "found:  it does not exist"),
        (("run", "no-such-study"), "quickstart"),
        (("run", "quickstart", "--resume"), "there is none in results/"),
        (("run", "quickstart", "--resume", "--seed", "1", "--out", "x"), "omit --seed"),
        (("doctor", "/no/such/place"), "No such file"),
        (("get", "block.scheduler", "--on", "/proc"), "no block device"),
    ],
)
def test_usage_error_has_a_remedy_and_exit_code_2(program, arguments, words):
    done = program(*arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "remedy: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_every_problem_of_a_study_file_is_printed(program):
    program.write(LOOPBACK.replace("bfq", "bqf").replace("3%", "300%").replace("BLOCKS", "2"))
    for command in (("check", "study.yaml"), ("run", "study.yaml")):
        done = program(*command)
        assert done.returncode == 2
        assert "study.yaml: 3 problems" in done.stderr
        assert "did you mean bfq?" in done.stderr
    assert not (program.folder / "results").exists()


@pytest.mark.root
def test_one_value_under_two_labels_is_compared(program):
    program.write(study().replace("[none, bfq]", "{first: none, second: none}"))
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert {row.configuration for row in program.rows()} == {"first", "second"}
    settings = [row.settings for row in program.rows()]
    assert all("none" in s.values() for s in settings)


@pytest.mark.root
def test_a_baseline_that_the_host_does_not_offer_is_refused(program):
    text = LOOPBACK.replace("[none, bfq]", "offered").replace("BLOCKS", "6")
    program.write(text + "baseline: bogus\n")
    for command in (("check", "study.yaml"), ("run", "study.yaml")):
        done = program(*command)
        assert done.returncode == 2
        assert "bogus" in done.stderr
    assert program.residue() == []
