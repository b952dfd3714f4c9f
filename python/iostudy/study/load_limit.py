"""Limit of the load that the workloads of a study put on the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from iostudy import units
from iostudy.settings.definitions.cgroup import Control, definition_of
from iostudy.study.fields import STRICT_KEYS
from iostudy.study.names import scalar_text
from iostudy.workloads.option_types import Seconds

_PER_SECOND = "/s"


def _parse_rate(value: Any) -> int:
    text = scalar_text(value).strip().removesuffix(_PER_SECOND)
    return int(definition_of(Control.RBPS).parse(text))


def _parse_operations(value: Any) -> int:
    return int(definition_of(Control.RIOPS).parse(scalar_text(value)))


_RATE_PATTERN = units.SIZE_PATTERN.removesuffix("$") + f"({_PER_SECOND})?$"
Rate = Annotated[
    int,
    BeforeValidator(_parse_rate),
    WithJsonSchema({"type": ["number", "string"], "pattern": _RATE_PATTERN}),
]
Operations = Annotated[
    int, BeforeValidator(_parse_operations), WithJsonSchema({"type": "integer", "minimum": 1})
]


@dataclass(frozen=True)
class LoadLimit:
    """The most that the workload of a trial may ask of the device below the target."""

    __pydantic_config__ = STRICT_KEYS

    rate: Rate | None = None
    """bytes per second, such as 50MiB; reads and writes are limited separately"""
    iops: Operations | None = None
    """operations per second; reads and writes are limited separately"""
    duration: Annotated[Seconds, Field(gt=0)] | None = None
    """longest run of a workload, such as 30s; a trial that runs longer is ended and invalid"""

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the workload's control group, by name."""
        controls = {
            Control.RBPS: self.rate,
            Control.WBPS: self.rate,
            Control.RIOPS: self.iops,
            Control.WIOPS: self.iops,
        }
        return {
            definition_of(control).name: str(value)
            for control, value in controls.items()
            if value is not None
        }

    def describe(self) -> str:
        """Describe the limits; empty without any."""
        return ", ".join(
            (
                *([f"{units.format_size(self.rate)}{_PER_SECOND}"] if self.rate else []),
                *([f"{self.iops} operations{_PER_SECOND}"] if self.iops else []),
                *([f"{units.format_seconds(self.duration)} a run"] if self.duration else []),
            )
        )
