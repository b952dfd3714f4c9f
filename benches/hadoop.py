"""Hadoop's examples with the local runner: one JVM, two map tasks at a time, no daemons.

For the benches, and for the tests that let Hadoop and iostudy check each other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

JARS = "IOSTUDY_HADOOP_LIB"
MISSING = f"Hadoop was not measured: it needs java, and its jars in the folder {JARS}"
TASKS = 2


def is_there() -> bool:
    """Whether java is there, and a folder of jars is named by the variable."""
    return shutil.which("java") is not None and JARS in os.environ


def run(main_class: str, *arguments: object, between: Path, reduces: int = 1) -> None:
    """Run a class of org.apache.hadoop.examples; ``between`` holds its intermediate data."""
    given = {
        "fs.defaultFS": "file:///",
        "mapreduce.framework.name": "local",
        "hadoop.tmp.dir": str(between),
        "mapreduce.local.map.tasks.maximum": TASKS,
        "mapreduce.job.reduces": reduces,
    }
    options = [f"-D{key}={value}" for key, value in given.items()]
    classes = [f"{os.environ[JARS]}/*", f"org.apache.hadoop.examples.{main_class}"]
    command = ["java", "-cp", *classes, *options, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{main_class} failed: {done.stderr[-2000:]}")
    shutil.rmtree(between, ignore_errors=True)  # not every class makes it
