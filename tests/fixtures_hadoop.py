"""Java and Hadoop's jars for the tests that run Hadoop, found once; without, these are skipped."""

from __future__ import annotations

import pytest

from iostudy.errors import UsageError
from iostudy.hadoop import artifacts
from iostudy.hadoop import java as java_programs


@pytest.fixture(scope="session")
def distribution():
    try:
        return artifacts.distribution()
    except UsageError as error:
        pytest.skip(f"needs Hadoop: {error.found}")


@pytest.fixture(scope="session")
def java(distribution):
    try:
        return java_programs.find(distribution.version)
    except UsageError as error:
        pytest.skip(f"needs Java for Hadoop: {error.found}")
