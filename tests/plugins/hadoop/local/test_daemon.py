"""Tests of the error message for a daemon that has died."""

from __future__ import annotations

from dataclasses import replace

from iostudy_hadoop.local import daemon
from tests.plugins.hadoop.clusters import layout


def test_error_lines_are_quoted_without_stack_traces(tmp_path):
    (tmp_path / "namenode.log").write_text(
        "INFO starting\n"
        "ERROR Failed to start namenode.\n"
        "java.net.BindException: Problem binding\n"
        "\tat sun.nio.ch.Net.bind0(Native Method)\n"
        "\t... 8 more\n"
        "ERROR RECEIVED SIGNAL 15: SIGTERM\n"
        "INFO SHUTDOWN_MSG\n"
    )
    assert daemon.log_end(tmp_path, "namenode") == (
        "ERROR Failed to start namenode.",
        "java.net.BindException: Problem binding",
    )


def test_without_errors_the_last_lines_are_quoted(tmp_path):
    (tmp_path / "namenode.log").write_text("".join(f"INFO {n}\n" for n in range(9)))
    (tmp_path / "namenode.out").write_text("last words\n")
    assert daemon.log_end(tmp_path, "namenode") == ("INFO 6", "INFO 7", "INFO 8", "last words")


def test_only_the_end_of_a_large_log_is_read(tmp_path):
    (tmp_path / "namenode.log").write_text("ERROR old\n" + "INFO x\n" * 100_000)
    assert daemon.log_end(tmp_path, "namenode")[-1] == "INFO x"


def test_missing_log_is_reported(tmp_path):
    cluster = replace(layout(), home=tmp_path)
    assert "it has logged nothing" in str(daemon.describe_exit(cluster, "datanode0"))
