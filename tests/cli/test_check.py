"""``check`` refuses what ``run`` would refuse, and changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from iostudy.cli.check import CheckReport
from iostudy.report.render import json_
from tests.cli.program import LOOPBACK, study
from tests.json_schema import assert_conforms

OPTIONS = """\
question: Which?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 1MiB}}]
"""


def refused(program, text: str, words: str) -> None:
    program.write(text)
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in program.folder.iterdir()] == ["study.yaml"]


def test_valid_study_is_summarized(program):
    program.write(OPTIONS)
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "blocks 5 to 30 of each workload; a block is a trial under each of the 2 conf" in output
    assert (
        "trials 10 to 60 space 1.00 MiB of files at most written 5.00 MiB to 30.0 MiB in all"
        in output
    )
    assert "workload file-reads: io with size=1MiB, and defaults" in output
    assert [path.name for path in program.folder.iterdir()] == ["study.yaml"]


def test_fixed_length_study_has_no_range_of_blocks(program):
    program.write(OPTIONS + "decide: {blocks: [3, 3]}\n")
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert "blocks 3 of each workload;" in output
    assert "trials 6 space 1.00 MiB" in output


def test_declared_weights_are_printed(program):
    program.write(OPTIONS + "decide: {weights: {file-reads: 2.5}}\n")
    assert "weight file-reads: 2.5" in " ".join(
        program("check", "study.yaml", "--full").stdout.split()
    )


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
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert "compares windows of one run of each workload (switchback)" in output
    assert "block.scheduler of the target, for each window of a run, and restored after" in output
    program.write(SWITCHED.replace("MODE", "trials"))
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert "for each window" not in output
    assert "block.scheduler of the target, for each trial, and restored after it" in output


def test_load_is_printed_once_and_trials_are_counted_per_level(program):
    loaded = OPTIONS.replace("files: 1, ", "") + "load: {workload.files: [1, 3]}\n"
    program.write(loaded + "decide: {blocks: [3, 3]}\n")
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert "workload file-reads: io with size=1MiB, and defaults load files of 1, 3;" in output
    assert "blocks 3 of each workload at each load;" in output
    assert "trials 12 space 3.00 MiB of files at most written 12.0 MiB in all" in output


def test_only_timed_workloads_have_a_time_estimate(program):
    io = "{label: timed, size: 1MiB, duration: 10s, ramp: 5s}"
    mixed = "{workloads: {a: io, b: {io: {size: 1MiB}}}}"
    program.write(f"""\
question: Which?
target: .
factors: {{workload.record_size: [1MiB, 64KiB]}}
workloads: [{{io: {io}}}, {{command: {{run: "true"}}}}, {{mix: {mixed}}}]
decide: {{blocks: [3, 3]}}
""")
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert "time 1 min 30 s, if the storage moves 500 MiB/s; no estimate for" in output
    assert "no estimate for command, mix" in output
    assert "timed: io with size=1MiB, duration=10s, ramp=5s, and defaults" in output
    assert "mix: workloads={a: {io: {}}, b: {io: {size: 1MiB}}}, and" in output


def test_named_configurations_are_printed(program):
    program.write(
        OPTIONS + "configurations: {usual: {}, small ones: {workload.record_size: 64KiB}}\n"
    )
    done = program("check", "study.yaml", "--full")
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
def test_target_that_is_no_directory_is_refused(program, target, words):
    refused(program, OPTIONS.replace("target: .", f"target: {target}"), words)


def test_files_that_do_not_fit_in_the_directory(program):
    refused(program, OPTIONS.replace("files: 1, size: 1MiB", "size: 4096TiB"), "4180 TiB for the")


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
def test_obstacles_of_a_settings_study_are_reported(program, old, new, words):
    assert old in LOOPBACK
    refused(program, study().replace(old, new), words)


@pytest.mark.root
def test_a_scratch_device_that_somebody_uses(program):
    mounted = next(
        words[0]
        for words in map(
            str.split, Path("/proc/self/mounts").read_text(errors="replace").splitlines()
        )
        if words[0].startswith("/dev/") and Path(words[0]).is_block_device()
    )
    text = study().replace("{loopback: {size: 64MiB}}", f"{{scratch: {{device: {mounted}}}}}")
    refused(program, text, "is mounted on")


@pytest.mark.root
def test_offered_levels_are_shown(program):
    program.write(study().replace("[none, bfq]", "offered"))
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 0, done.stderr
    assert "none, mq-deadline" in done.stdout


@pytest.mark.root
def test_file_systems_that_are_made_anew_are_counted(program):
    factors = "{filesystem.type: [ext4, ext2, ext3], block.scheduler: [none, bfq]}"
    program.write(study().replace("{block.scheduler: [none, bfq]}", factors))
    done = program("check", "study.yaml", "--full")
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


@pytest.mark.all_plugins
def test_design_is_printed_with_runs_and_aliases(program):
    text = """\
question: Which?
target: .
factors:
  workload.direct: [false, true]
  workload.record_size: [1MiB, 64KiB]
  workload.files: [2, 4]
workloads: [{io: {label: file-writes, operation: write}}]
design: {kind: plackett-burman, fold_over: false}
"""
    program.write(text)
    output = program("check", "study.yaml", "--full").stdout
    assert "plackett-burman without fold-over: 4 runs" in output
    assert "direct=true with workload.record_size with workload.files" in output
    assert "direct=false, record_size=1MiB, files=2" in output
    assert "baseline" not in output
    program.write(text.replace("fold_over: false", "fold_over: true"))
    assert "8 runs; no effect is aliased" in program("check", "study.yaml", "--full").stdout


WARNED = """\
question: Which?
target: .
factors: {FACTORS}
workloads: [{io: {label: file-reads, files: 1, size: 1M, direct: DIRECT}}]
"""


def warned(program, factors: str, direct: str = "true", text: str = WARNED) -> list[str]:
    program.write(text.replace("FACTORS", factors).replace("DIRECT", direct))
    done = program("check", "study.yaml", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert_conforms(document, json_.build_schema(CheckReport))
    return document["warnings"]


@pytest.mark.root
def test_levels_that_do_not_do_what_they_say_are_warned_of(program, loop):
    on = f"on: [{loop}]"
    (cfq,) = warned(program, f"block.scheduler: {{levels: [cfq, none], {on}}}")
    assert cfq.startswith("block.scheduler=cfq is not among this kernel's: none")
    assert cfq.endswith("Linux 5.0 removed it")
    (size,) = warned(program, f"block.max_sectors_kb: {{levels: [128, 1048576], {on}}}")
    assert size.endswith("the kernel refuses or reduces it")
    requests = f"block.nr_requests: {{levels: [64, 129], {on}}}"
    none = f"block.scheduler: {{levels: [none], {on}}}"
    (excess,) = warned(program, f"{requests}, {none}")
    assert excess.startswith("block.nr_requests=129 exceeds the queue depth of loop")
    assert excess.endswith("(128): the kernel refuses it")
    deadline = none.replace("none", "mq-deadline")
    assert warned(program, f"{requests}, {deadline}") == []
    (excess,) = warned(program, f"{requests.replace('129', '2049')}, {deadline}")
    assert "exceeds the limit with mq-deadline of loop" in excess
    read_ahead = f"block.read_ahead_kb: {{levels: [0, 128], {on}}}"
    (direct,) = warned(program, read_ahead)
    assert "no effect on file-reads" in direct
    assert warned(program, read_ahead, direct="false") == []


@pytest.mark.root
@pytest.mark.parametrize("level", ["max_sectors_kb: [128, 1048576]", "nr_requests: [64, 2049]"])
def test_levels_beyond_the_limits_of_a_disk_that_the_study_makes_are_warned_of(program, level):
    text = WARNED.replace("target: .", "target: {loopback: {size: 64MiB}}")
    (warning,) = warned(program, f"block.{level}", text=text)
    assert "of a loop device (" in warning


def test_a_dirty_limit_below_that_of_the_background_is_warned_of(program):
    swapped = "vm.dirty_ratio: [5, 30], vm.dirty_background_ratio: [10]"
    (warning,) = warned(program, swapped, direct="false")
    assert warning.startswith("dirty_ratio=5 is not above dirty_background_ratio=10: the kernel")


ENVIRONMENTS = "workload.environment: {old: {N: 4}, new: {N: 8}}"
SCRIPT = '{command: {shell: true, run: "true\\necho two", limit: 5s}}'


@pytest.mark.child
@pytest.mark.parametrize("target", [".", "{loopback: {size: 64MiB}}"])
def test_a_sysctl_that_the_kernel_lacks_is_refused_on_every_target(program, target):
    text = OPTIONS.replace("workload.record_size: [1MiB, 64KiB]", "vm.swapiness: [10, 60]")
    program.write(re.sub("target: .*", f"target: {target}", text))
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 2
    assert "this kernel has none of that name" in done.stderr


def test_levels_of_several_parts_and_scripts_are_readable(program):
    text = OPTIONS.replace("workload.record_size: [1MiB, 64KiB]", ENVIRONMENTS)
    program.write(text.replace("{io: {label: file-reads, files: 1, size: 1MiB}}", SCRIPT))
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "workload.environment old, new" in lines
    assert {"old: N=4", "new: N=8"} <= set(lines)
    assert any("command: run=(script of 2 lines), shell=true, limit=5s" in line for line in lines)
    assert {"run: true", "run: echo two"} <= set(lines)


def test_json_has_the_effort_in_bytes_and_seconds(program):
    program.write(OPTIONS)
    document = json.loads(program("check", "study.yaml", "--json").stdout)
    effort = document["effort"]
    assert (effort["trials"], effort["peak_bytes"]) == ([10, 60], 1 << 20)
    assert effort["written_bytes"] == [5 << 20, 30 << 20]
    assert document["workloads"][0]["options"]["size"] == "1MiB"


@pytest.mark.parametrize(
    ("workload", "peak", "written"),
    [
        ("io: {label: file-reads, files: 2, size: 1MiB}", "2.00 MiB", "10.0 MiB"),
        (
            "io: {label: file-writes, operation: write, files: 2, size: 1MiB}",
            "2.00 MiB",
            "20.0 MiB",
        ),
    ],
)
def test_data_of_a_block_are_written_once_and_those_of_a_trial_each_time(
    program, workload, peak, written
):
    text = OPTIONS.replace("io: {label: file-reads, files: 1, size: 1MiB}", workload)
    program.write(text + "decide: {blocks: [5, 5]}\n")
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert f"space {peak} of files at most written {written} in all" in output


@pytest.mark.parametrize("command", ["check", "run"])
def test_all_missing_programs_are_named_at_once_before_anything_else(program, command):
    many = "{command: {label: a, run: no-such-a}}, {command: {label: b, run: no-such-b}}"
    text = OPTIONS.replace("{io: {label: file-reads, files: 1, size: 1MiB}}", many)
    text = text.replace("workload.record_size: [1MiB, 64KiB]", "vm.swappiness: [10, 60]")
    program.write(text)
    done = program(command, "study.yaml")
    assert done.returncode == 2
    assert "the program no-such-a" in done.stderr
    assert "the program no-such-b" in done.stderr
    assert [path.name for path in program.folder.iterdir()] == ["study.yaml"]


def test_a_sysctl_is_a_setting_by_its_key(program):
    configurations = "configurations: {a: {}, b: {vm.swappiness: 60}}\n"
    text = OPTIONS.replace("workload.record_size: [1MiB, 64KiB]", "vm.swappiness: [10, 60]")
    program.write(text + configurations)
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 0, done.stderr
    assert "sysctl.vm.swappiness of the whole host" in " ".join(done.stdout.split())
    both = "vm.swappiness: [10, 60], sysctl.vm.swappiness: [10, 60]"
    program.write(text.replace("vm.swappiness: [10, 60]", both))
    assert "the factor occurs twice" in program("check", "study.yaml", "--full").stderr


@pytest.mark.parametrize("place", ["no/such.yaml", "none.yaml"])
def test_a_study_file_that_does_not_exist_is_an_error(program, place):
    done = program("check", place)
    assert (done.returncode, "it does not exist" in done.stderr) == (2, True)


def test_everything_that_a_declared_setting_runs_or_edits_is_printed(program):
    """Nothing of it is run: a hostile study shows what it would do."""
    mark = program.folder / "mark"
    program.write(f"""
question: Which?
target: .
settings:
  my.knob: {{read: touch {mark}, write: [touch, {mark}, '{{}}'], normalise: [touch, '{mark}', n]}}
  my.key: {{file: /etc/hosts, key: key, after: [touch, '{mark}', after]}}
factors: {{my.knob: [a, b], my.key: [c, d]}}
workloads: [command: {{run: ['true']}}]
""")
    short = program("check", "study.yaml").stdout
    assert "not restored  what the commands of the study change by themselves" in short
    assert "and 2 more; --full lists them" in short
    done = program("check", "study.yaml", "--full")
    assert done.returncode == 0, done.stderr
    output = "".join(done.stdout.split())
    for text in (f"touch{mark}'{{}}'", f"touch{mark}n", f"touch{mark}after", "/etc/hosts"):
        assert text in output
    assert "notrestoredwhatthecommandsofthestudychangebythemselves" in output
    assert not mark.exists()


@pytest.mark.root
def test_no_command_of_a_declared_setting_runs_at_any_place(program, loop):
    """Root's check tries options of mounts; a declared setting of a mount is none of them."""
    mark = program.folder / "mark"
    for place, word in {"disk": "{path}", "volume": "{path}", "mount": "{mount}"}.items():
        on = f", 'on': /dev/{loop}" if word == "{path}" else ""
        program.write(f"""
question: Which?
target: .
settings:
  my.knob:
    place: {place}
    read: [sh, -c, 'echo a | tee {mark}', '{word}']
    write: [sh, -c, 'touch {mark}', sh, '{{}}']
    normalise: [tee, '{mark}']
factors: {{my.knob: {{levels: [a, b]{on}}}}}
workloads: [command: {{run: ['true']}}]
""")
        for options in ((), ("--full",), ("--json",)):
            done = program("check", "study.yaml", *options)
            assert done.returncode == 0, done.stderr
            assert not mark.exists(), (place, options)
