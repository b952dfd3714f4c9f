"""Tests of the native library check by Hadoop's own checker."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop import native_library
from iostudy_hadoop.client import Client
from tests.plugins.hadoop.fake import FakeCluster

pytestmark = pytest.mark.child

# What NativeLibraryChecker of Hadoop 3.4.2 says.
WITHOUT = """\
    2026-11-21 19:08:15,460 WARN  [main] util.NativeCodeLoader - Unable to load native-hadoop
    Native library checking:
    hadoop:  false
    zlib:    false
    2026-11-21 19:08:16,629 INFO  [main] util.ExitUtil - Exiting with status 1: ExitException
    """
WITH = WITHOUT.replace("hadoop:  false", "hadoop:  true /opt/hadoop/lib/native/libhadoop.so.1.0.0")


def client(tmp_path: Path, says: str) -> Client:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\ncat <<'END'\n{textwrap.dedent(says)}END\nexit 1\n")
    java.chmod(0o755)
    return replace(FakeCluster(tmp_path).configured({}, restart=False), java=java)


@pytest.mark.parametrize(("says", "there"), [(WITH, True), (WITHOUT, False), ("", False)])
def test_native_library_follows_checknative(tmp_path, says, there):
    assert native_library.is_loadable(client(tmp_path, says)) is there


def test_java_that_does_not_run(tmp_path):
    gone = replace(client(tmp_path, WITH), java=tmp_path / "gone")
    with pytest.raises(ClusterError, match="cannot be started: No such file"):
        native_library.is_loadable(gone)
