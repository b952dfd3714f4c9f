"""Tests of ``iostudy watch`` output: complete after a signal, a closed pipe and ``--count``."""

from __future__ import annotations

import csv
import json
import signal

import pytest


def statistics(document):
    (host,) = json.loads(document)["sysstat"]["hosts"]
    return host["statistics"]


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_json_is_closed_when_a_signal_ends_it(program, number):
    watching = program.start("watch", "--json", "--interval", "0.1")
    begun = ""
    while "disk_device" not in begun:
        begun += watching.stdout.readline()
    watching.send_signal(number)
    with watching:
        assert len(statistics(begun + watching.stdout.read())) >= 1
        assert watching.stderr.read() == ""
    assert watching.returncode == 128 + number


@pytest.mark.process
def test_closed_pipe_ends_the_output_silently(program):
    watching = program.start("watch", "--json", "--interval", "0.1")
    assert watching.stdout.readline() == '{"sysstat": {\n'
    with watching:
        watching.stdout.close()
        assert watching.stderr.read() == ""
    assert watching.returncode != 0


def test_count_ends_a_document_and_a_table(program):
    done = program("watch", "--json", "--interval", "0.1", "--count", "3")
    assert done.returncode == 0
    assert len(statistics(done.stdout)) == 3
    rows = csv.DictReader(
        program("watch", "--csv", "--interval", "0.1", "--count", "2").stdout.splitlines()
    )
    assert len({row["time"] for row in rows}) == 2


def test_json_and_csv_are_exclusive(program):
    refused = program("watch", "--json", "--csv")
    assert refused.returncode == 2
    assert "give --json or --csv, not both" in refused.stderr
    assert refused.stdout == ""
