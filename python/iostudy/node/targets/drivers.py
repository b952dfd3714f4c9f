"""The driver of a target."""

from __future__ import annotations

from typing import Any

from iostudy import plugins
from iostudy.node.targets.driver import TargetDriver
from iostudy.study.targets.target import Target


def find_driver(target: Target) -> TargetDriver[Any]:
    """Return the driver of a target."""
    driver: TargetDriver[Any] = plugins.load(target.driver)(target)
    return driver
