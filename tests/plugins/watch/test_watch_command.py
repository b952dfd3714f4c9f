"""Tests of ``iostudy watch -- COMMAND``: exit status and activity of the machine."""

from __future__ import annotations

import json
import os
import signal

import pytest

from iostudy.report.render import json_
from iostudy_watch.document import WatchReport
from tests.json_schema import assert_conforms

pytestmark = pytest.mark.process
MIB = 1 << 20


def test_watch_reports_processes_devices_and_bottleneck_of_a_command(program, tmp_path):
    file = tmp_path / "written"
    write = ["dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=64", "conv=fsync", "status=none"]
    document = json.loads(program("watch", "--json", "--", *write).stdout)
    assert_conforms(document, json_.build_schema(WatchReport))
    assert next(iter(document.items())) == ("schema", "iostudy.watched/1")
    assert document["command"] == write
    assert document["exit_code"] == 0
    (dd,) = [own for own in document["processes"] if own["of_workload"]]
    assert dd["name"] == "dd"
    assert dd["written_bytes"] >= 64 * MIB
    assert document["workload"]["%cpu"] > 0
    assert document["limited_by"]["sentence"]
    assert document["machine"]["samples"] >= 2


def test_undecodable_arguments_are_valid_json(program, tmp_path):
    odd = tmp_path / os.fsdecode(b"\xff")
    odd.write_text("#!/bin/sh\nsleep 0.3\n")
    odd.chmod(0o755)
    document = json.loads(program("watch", "--json", "--", str(odd)).stdout)
    assert document["command"] == [str(odd)]
    assert_conforms(document, json_.build_schema(WatchReport))


@pytest.mark.root
def test_the_device_that_was_named_is_the_one_that_is_judged(program, loop):
    read = ["dd", f"if=/dev/{loop}", "of=/dev/null", "bs=1M", "count=16", "iflag=direct"]
    document = json.loads(program("watch", "--json", loop, "--", *read).stdout)
    assert_conforms(document, json_.build_schema(WatchReport))
    assert document["device"] == loop
    assert list(document["devices"]) == [loop]
    assert document["devices"][loop]["kB_read"] == 16 * 1024
    assert document["limited_by"]["looked_at"][0]["of"] == loop


def test_the_summary_is_on_stderr_and_what_the_command_prints_is_untouched(program):
    ended = program("watch", "--", "sh", "-c", "echo out; echo --json; sleep 0.3; exit 7")
    assert ended.stdout == "out\n--json\n"
    assert ended.returncode == 7
    assert "exit code 7" in ended.stderr
    assert "avg-cpu:" in ended.stderr
    assert "bottleneck" in ended.stderr


def test_old_figures_are_those_of_the_command_s_devices(program):
    write = ["dd", "if=/dev/zero", "of=data", "bs=1M", "count=16", "oflag=direct"]
    ended = program("watch", "--old-figures", "--", *write)
    assert "svctm" in ended.stderr
    document = json.loads(program("watch", "--json", "--old-figures", "--", *write).stdout)
    assert all("svctm" in figures for figures in document["devices"].values())


def test_with_json_stdout_is_the_document_alone(program):
    ended = program("watch", "--json", "--", "echo", "out")
    assert json.loads(ended.stdout)["exit_code"] == 0
    assert ended.stderr == "out\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_is_forwarded_to_the_command(program, number):
    name = number.name.removeprefix("SIG")
    script = f"trap 'echo caught; exit 5' {name}; echo ready; while :; do sleep 0.01; done"
    watching = program.start("watch", "--", "sh", "-c", script)
    with watching:
        assert watching.stdout.readline() == "ready\n"
        watching.send_signal(number)
        assert watching.stdout.read() == "caught\n"
        assert "exit code 5" in watching.stderr.read()
    assert watching.returncode == 5


def test_a_command_that_a_signal_ended_has_the_exit_code_that_shells_give_it(program):
    assert program("watch", "--", "sh", "-c", "kill -KILL $$").returncode == 137


@pytest.mark.parametrize(("name", "code"), [("no-such-program", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_be_started_ends_as_in_a_shell(program, name, code):
    refused = program("watch", "--", name)
    assert (refused.returncode, f"to run {name}" in refused.stderr) == (code, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--"], "give a command"),
        (["--csv", "--", "true"], "only --interval, --json and --old"),
    ],
)
def test_command_that_cannot_start_is_refused(program, arguments, message):
    refused = program("watch", *arguments)
    assert refused.returncode == 2
    assert message in refused.stderr
