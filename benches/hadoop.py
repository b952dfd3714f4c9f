"""Hadoop's examples with the local runner: one JVM, two map tasks at a time, no daemons."""

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


def run(main_class: str, source: Path, output: Path) -> None:
    """Run a class of org.apache.hadoop.examples from one folder to another, which it makes."""
    between = output.with_name("hadoop-tmp")
    given = {
        "fs.defaultFS": "file:///",
        "mapreduce.framework.name": "local",
        "hadoop.tmp.dir": str(between),
        "mapreduce.local.map.tasks.maximum": TASKS,
    }
    options = [f"-D{key}={value}" for key, value in given.items()]
    places = [source.as_uri(), output.as_uri()]
    classes = [f"{os.environ[JARS]}/*", f"org.apache.hadoop.examples.{main_class}"]
    command = ["java", "-cp", *classes, *options, *places]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{main_class} failed: {done.stderr[-2000:]}")
    shutil.rmtree(between)
