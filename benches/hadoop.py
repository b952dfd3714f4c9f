"""Hadoop's examples with the local runner: one JVM, two map tasks at a time, no daemons.

For the benches, and for the tests that let Hadoop and iostudy check each other.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy_hadoop.software import artifacts, java

TASKS = 2


@dataclass(frozen=True)
class Examples:
    """The classes of org.apache.hadoop.examples, and what runs them."""

    java: java.Java
    classpath: str

    def run(self, main_class: str, *arguments: object, between: Path, reduces: int = 1) -> None:
        """Run one; ``between`` holds its intermediate data."""
        given = {
            "fs.defaultFS": "file:///",
            "mapreduce.framework.name": "local",
            "hadoop.tmp.dir": str(between),
            "mapreduce.jobtracker.staging.root.dir": str(between / "staging"),
            "mapreduce.local.map.tasks.maximum": TASKS,
            "mapreduce.job.reduces": reduces,
        }
        options = [f"-D{key}={value}" for key, value in given.items()]
        program = [self.java.path, *self.java.options, "-cp", self.classpath]
        command = [*program, f"org.apache.hadoop.examples.{main_class}", *options]
        done = subprocess.run(
            [*command, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{main_class} failed: {done.stderr[-2000:]}")
        shutil.rmtree(between, ignore_errors=True)  # not every class makes it


def find_examples() -> Examples | None:
    """Fetch them if need be; None with a printed reason where that fails."""
    try:
        distribution = artifacts.distribution(on_progress=print)
        return Examples(java.find_java(distribution.version), distribution.classpath)
    except UsageError as missing:
        print(f"Hadoop was not measured: {missing.found}; {missing.remedy}")
        return None
