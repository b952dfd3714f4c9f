"""``check`` refuses what ``run`` would refuse, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import LOOPBACK, study

OPTIONS = """\
question: Which?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
"""


def refused(program, text: str, words: str) -> None:
    program.write(text)
    done = program("check", "study.yaml")
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in program.folder.iterdir()] == ["study.yaml"]


def test_valid_study_is_summarized(program):
    program.write(OPTIONS)
    done = program("check", "study.yaml")
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "blocks 5 to 30 of each workload; a block is a trial under each of the 2 conf" in output
    assert "trials 10 (files of 10 MiB) to 60 (files of 60 MiB)" in output
    assert "workload dfsio-read: files=1, size=1MiB, and defaults" in output
    assert [path.name for path in program.folder.iterdir()] == ["study.yaml"]


def test_fixed_length_study_has_no_range_of_blocks(program):
    program.write(OPTIONS + "decide: {blocks: [3, 3]}\n")
    output = " ".join(program("check", "study.yaml").stdout.split())
    assert "blocks 3 of each workload;" in output
    assert "trials 6 (files of 6 MiB)" in output


def test_declared_weights_are_printed(program):
    program.write(OPTIONS + "decide: {weights: {dfsio-read: 2.5}}\n")
    assert "weight dfsio-read: 2.5" in " ".join(program("check", "study.yaml").stdout.split())


SWITCHED = """\
question: Which?
target: {loopback: {size: 64MiB}}
factors: {block.scheduler: [none, mq-deadline]}
workloads: [{io: {order: random, record_size: 4KiB, size: 1MiB, direct: true}}]
decide: {mode: MODE}
"""


@pytest.mark.child
def test_study_of_windows_says_what_it_compares_and_how_it_changes_settings(program):
    program.write(SWITCHED.replace("MODE", "auto"))
    output = " ".join(program("check", "study.yaml").stdout.split())
    assert "compares windows of one run of each workload (switchback)" in output
    assert "block.scheduler of the target, for each window of a run, and restored after" in output
    program.write(SWITCHED.replace("MODE", "trials"))
    output = " ".join(program("check", "study.yaml").stdout.split())
    assert "for each window" not in output
    assert "block.scheduler of the target, for each trial, and restored after it" in output


def test_load_is_printed_once_and_trials_are_counted_per_level(program):
    loaded = OPTIONS.replace("files: 1, ", "") + "load: {workload.files: [1, 3]}\n"
    program.write(loaded + "decide: {blocks: [3, 3]}\n")
    output = " ".join(program("check", "study.yaml").stdout.split())
    assert "workload dfsio-read: size=1MiB, and defaults load files of 1, 3;" in output
    assert "blocks 3 of each workload at each load;" in output
    assert "trials 12 (files of 24 MiB)" in output


def test_only_timed_workloads_have_a_time_estimate(program):
    io = "{label: timed, size: 1MiB, duration: 10s, ramp: 5s}"
    mixed = "{workloads: {a: dfsio-read, b: {dfsio-read: {size: 1MiB}}}}"
    program.write(f"""\
question: Which?
target: .
factors: {{workload.record_size: [1MiB, 64KiB]}}
workloads: [{{io: {io}}}, {{command: {{run: "true"}}}}, {{mix: {mixed}}}]
decide: {{blocks: [3, 3]}}
""")
    output = " ".join(program("check", "study.yaml").stdout.split())
    assert "time 1 min 30 s, if the storage moves 500 MiB/s; no estimate for" in output
    assert "no estimate for command, mix" in output
    assert "timed: io with size=1MiB, duration=10s, ramp=5s, and defaults" in output
    assert "mix: workloads={a: {dfsio-read: {}}, b: {dfsio-read: {size: 1MiB}}}, and" in output


def test_named_configurations_are_printed(program):
    program.write(
        OPTIONS + "configurations: {usual: {}, small ones: {workload.record_size: 64KiB}}\n"
    )
    done = program("check", "study.yaml")
    assert done.returncode == 0, done.stderr
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    configurations = [rest.strip() for word, _, rest in lines if word == "configuration"]
    assert configurations == [
        "usual: the first level of each",
        "small ones: workload.record_size=64KiB",
    ]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/no/such/place", "it does not exist"),
        ("study.yaml", "it is not a directory"),
        ("/dev/null", "it is not a directory"),
    ],
)
def test_a_directory_that_is_none(program, target, words):
    refused(program, OPTIONS.replace("target: .", f"target: {target}"), words)


def test_files_that_do_not_fit_in_the_directory(program):
    refused(program, OPTIONS.replace("files: 1, size: 1MiB", "size: 4096TiB"), "16700 TiB for the")


@pytest.mark.root
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{loopback: {size: 64MiB}}", "{scratch: {device: /no/such}}", "that is no block device"),
        ("size: 64MiB", "size: 15TiB", "for a scratch disk"),
        ("files: 2, size: 4MiB", "files: 16, size: 4MiB", " MiB are free"),
        ("{loopback: {size: 64MiB}}", "/proc", "no block device"),
        ("[none, bfq]}", "offered}\nbaseline: bogus", "line 4: baseline: unknown configuration"),
    ],
)
def test_what_a_study_of_settings_cannot_do(program, old, new, words):
    assert old in LOOPBACK
    refused(program, study().replace(old, new), words)


@pytest.mark.root
def test_a_scratch_device_that_somebody_uses(program):
    mounted = next(
        words[0]
        for words in map(str.split, Path("/proc/self/mounts").read_text().splitlines())
        if words[0].startswith("/dev/") and Path(words[0]).is_block_device()
    )
    text = study().replace("{loopback: {size: 64MiB}}", f"{{scratch: {{device: {mounted}}}}}")
    refused(program, text, "is mounted on")


@pytest.mark.root
def test_offered_levels_are_shown(program):
    program.write(study().replace("[none, bfq]", "offered"))
    done = program("check", "study.yaml")
    assert done.returncode == 0, done.stderr
    assert "none, mq-deadline" in done.stdout


@pytest.mark.root
def test_file_systems_that_are_made_anew_are_counted(program):
    factors = "{filesystem.type: [ext4, ext2, ext3], block.scheduler: [none, bfq]}"
    program.write(study().replace("{block.scheduler: [none, bfq]}", factors))
    done = program("check", "study.yaml")
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "3 beforehand, then 15 to 18: each is recreated in every block" in output
    assert "by a new file system, as rarely as the plan allows" in output


@pytest.mark.root
@pytest.mark.parametrize(
    ("target", "factor", "words"),
    [
        ("{loopback: {size: 64MiB}}", "filesystem.type: [ext4, ntfs]", "unknown level of filesys"),
        (".", "filesystem.reserved: [0, 5]", "only made on a disk of the study's own"),
    ],
)
def test_a_file_system_that_cannot_be_made(program, target, factor, words):
    text = study().replace("{loopback: {size: 64MiB}}", target)
    refused(program, text.replace("block.scheduler: [none, bfq]", factor), words)


def test_design_is_printed_with_runs_and_aliases(program):
    text = """\
question: Which?
target: .
factors:
  workload.direct: [false, true]
  workload.record_size: [1MiB, 64KiB]
  workload.files: [2, 4]
workloads: [dfsio-write]
design: {kind: plackett-burman, fold_over: false}
"""
    program.write(text)
    output = program("check", "study.yaml").stdout
    assert "plackett-burman without fold-over: 4 runs" in output
    assert "direct=true with workload.record_size with workload.files" in output
    assert "direct=false, record_size=1MiB, files=2" in output
    assert "baseline" not in output
    program.write(text.replace("fold_over: false", "fold_over: true"))
    assert "8 runs; no effect is aliased" in program("check", "study.yaml").stdout
