"""Tests of the program files of a Hadoop client: its jars and those of Java."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.plugins.hadoop.fake import FakeCluster


def test_program_files_are_the_jars_and_those_of_java(tmp_path: Path) -> None:
    files = ("jdk/bin/java", "jdk/lib/modules", "jdk/lib/server/libjvm.so")
    jars = ("jars/a.jar", "jars/b.jar", "jars/notes.txt", "one.jar", "conf/core-site.xml")
    for name in (*files, *jars):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    client = replace(
        FakeCluster(tmp_path).configured({}, restart=False),
        java=tmp_path / "jdk/bin/java",
        classpath=f"{tmp_path}/jars/*:{tmp_path}/one.jar:{tmp_path}/conf:{tmp_path}/none.jar",
    )
    files_found = {str(path.relative_to(tmp_path)) for path in client.program_files()}
    assert files_found == {*files[1:], "jars/a.jar", "jars/b.jar", "one.jar"}
