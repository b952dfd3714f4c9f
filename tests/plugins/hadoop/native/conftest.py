"""The place of the workloads' tests."""

from tests.workloads.conftest import place

__all__ = ["place"]
