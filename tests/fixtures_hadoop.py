"""Java and Hadoop's jars for the tests that run Hadoop, found once; without, these are skipped."""

from __future__ import annotations

import os

import pytest

from iostudy.errors import UsageError
from iostudy.hadoop import artifacts
from iostudy.hadoop import java as java_programs


@pytest.fixture(scope="session")
def distribution():
    """That of Maven, so that the tests find the same everywhere."""
    environ = {name: value for name, value in os.environ.items() if name != "HADOOP_HOME"}
    try:
        return artifacts.distribution(environ=environ)
    except UsageError as error:
        pytest.skip(f"needs Hadoop: {error.found}")


@pytest.fixture(scope="session")
def java(distribution):
    try:
        return java_programs.find(distribution.version)
    except UsageError as error:
        pytest.skip(f"needs Java for Hadoop: {error.found}")
