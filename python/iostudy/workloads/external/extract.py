"""Extraction of figures from program output by regular expression or JMESPath."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, Literal, NamedTuple

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import Field, model_validator

from iostudy.errors import UsageError, WorkloadError
from iostudy.workloads.definition import Figure
from iostudy.workloads.external.program import Output, ProgramResult
from iostudy.workloads.option_types import Options

_NEAR_CHARACTERS = 120
_UNIT = re.compile(
    r"[ \t]?(?:(k|[KMGT]i?)?(?:(B|bytes?)|bits?|b(?=ps|/s))|([nuµm]?)s(?:ec(?:ond)?s?)?)"
    r"( ?(?:/|per) ?s(?:ec(?:ond)?)?|ps)?(?![\w/:=])"
)
"""A unit of size, time or rate; many programs, such as dd, choose it by the size of the number."""
_SIZES = {
    "k": 1e3,
    **{prefix: 1e3**power for power, prefix in enumerate("KMGT", 1)},
    **{f"{prefix}i": 1024.0**power for power, prefix in enumerate("KMGT", 1)},
}
_SECONDS = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}
AS_PRINTED = "as printed"
"""The unit of numbers that the output gives without one, such as scores."""
_OTHER_KINDS = re.compile(rf"{AS_PRINTED}|%|(?i:[km]?(?:i?ops|[tqr]ps)|[a-z]+/s(?:ec(?:ond)?)?)")
"""Units of which no size, no time and no rate of these is one."""
_MAX_PATTERN = 1000
"""Characters of a pattern, which finds one number."""


class Extract(Options):
    """The place of a figure in a program's output, its unit, and the better direction."""

    unit: Annotated[str, Field(min_length=1, max_length=20)] = Field(
        description="the unit, such as MiB/s; a number that the output gives in another unit of "
        "size or time, such as 980 KiB/s, is converted to it"
    )
    higher_is_better: bool = Field(description="true for a rate, false for a time")
    regex: str | None = Field(
        None,
        max_length=_MAX_PATTERN,
        description="a regular expression (Python's) whose one group is the number; ^ and $ match "
        "at each line; where it matches several times the last counts",
    )
    jmespath: str | None = Field(
        None,
        max_length=_MAX_PATTERN,
        description="a JMESPath (jmespath.org) to the number, where the output is JSON, such as "
        "`jobs[0].read.iops` or `sum(jobs[].read.bw)`",
    )
    stream: Literal["stdout", "stderr"] = Field("stdout", description="the output that contains it")

    @model_validator(mode="after")
    def _one_way(self) -> Extract:
        if (self.regex is None) == (self.jmespath is None):
            raise ValueError("a figure is found by a regex or by a jmespath; give one of them")
        if self.regex is not None:
            _require_one_group(self.regex)
        else:
            _require_path(str(self.jmespath))
        return self

    def figure(self, name: str) -> Figure:
        """Return the figure that it extracts."""
        way = f"what {self.regex} finds" if self.jmespath is None else f"what is at {self.jmespath}"
        return Figure(name, self.unit, f"{way} in {self.stream}", self.higher_is_better)

    def reading(self, name: str, ended: ProgramResult) -> float:
        """Return the number; WorkloadError without one, with the output that was found.

        UsageError for a unit of another kind: such numbers must not count, and no trial has failed.
        """
        output = ended.stdout if self.stream == "stdout" else ended.stderr
        scale = 1.0
        if self.regex is not None:
            text, near, scale = self._matched(output)
        else:
            text, near = self._at_path(output)
        number = _number(text)
        if number is None:
            remedy = "run the program by hand, and write a pattern that fits what it prints"
            in_stderr = self.regex and re.search(self.regex, ended.stderr.text, re.MULTILINE)
            if self.stream == "stdout" and in_stderr:
                remedy = "it is in stderr: add --shell and 2>&1, or `stream: stderr` to a study"
            raise WorkloadError(
                f"the figure {name}, a number, by {self.regex or self.jmespath}",
                found=near,
                where=f"{self.stream} of {ended.program}",
                remedy=remedy,
            )
        return number * scale

    def _matched(self, output: Output) -> tuple[str | None, str, float]:
        """The number, the text about it, and the factor from its unit to this figure's."""
        matches = re.finditer(str(self.regex), output.text, re.MULTILINE)
        last = None
        for last in matches:  # noqa: B007 - the last one is wanted, and all cannot be kept
            pass
        if last is None:
            return None, f"no match; the output ends with {_end_of(output)}", 1.0
        start, end = max(0, last.start() - _NEAR_CHARACTERS), last.end() + _NEAR_CHARACTERS
        near = f"{last[1]!r}, in {output.text[start:end]!r}"
        unit = _UNIT.match(output.text, last.end(1))
        printed, wanted = _read_unit(unit), _read_unit(_UNIT.fullmatch(self.unit))
        if printed and wanted and printed[:2] == wanted[:2]:
            return last[1], near, printed.scale / wanted.scale
        if unit and (wanted or _OTHER_KINDS.fullmatch(self.unit)):
            name = unit[0].strip()
            raise UsageError(
                "the unit of the figure, as the program may print another one in another run",
                found=f"{near}, for the unit {self.unit}",
                where=f"{self.stream}, at {name}",
                remedy=f"begin a study with --unit '{name}', or `unit: {name}` in its file",
            )
        return last[1], near, 1.0

    def _at_path(self, output: Output) -> tuple[Any, str]:
        if output.lost_bytes:
            return None, f"so much output that its first {output.lost_bytes} bytes were not kept"
        try:
            document = json.loads(output.text)
        except ValueError as error:
            return None, f"no JSON ({error}); the output ends with {_end_of(output)}"
        try:
            value = jmespath.search(str(self.jmespath), document)
        except JMESPathError as error:
            return None, _first_line(error)
        return value, "nothing there" if value is None else repr(value)[:_NEAR_CHARACTERS]


def _require_one_group(regex: str) -> None:
    try:
        groups = re.compile(regex, re.MULTILINE).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    if groups != 1:
        raise ValueError(
            f"the regex has {groups} groups; put one, in round brackets, about the number, and "
            "write others as (?:...)"
        )


def _require_path(path: str) -> None:
    try:
        jmespath.compile(path)
    except RecursionError as error:
        raise ValueError("the JMESPath has too many brackets") from error
    except JMESPathError as error:
        raise ValueError(f"not a JMESPath: {_first_line(error)}") from error


def _number(value: Any) -> float | None:
    """A finite number, also where it is written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class _Unit(NamedTuple):
    """A unit of size or time, or of a rate of these; ``scale`` is its bytes or seconds."""

    is_time: bool
    is_rate: bool
    scale: float


def find_unit(regex: str) -> str:
    """Return the unit that a pattern has after its group; empty without a whole one."""
    unit = _UNIT.match(regex, regex.rfind(")") + 1)
    return unit[0].strip() if unit and not regex.startswith(tuple(r"\?*+[{"), unit.end()) else ""


def _read_unit(match: re.Match[str] | None) -> _Unit | None:
    if match is None:
        return None
    prefix, byte, part, per_second = match.groups()
    size = _SIZES.get(prefix, 1.0) / (1 if byte else 8)
    scale = size if part is None else _SECONDS.get(part, 1.0)
    return _Unit(part is not None, per_second is not None, scale)


def _end_of(output: Output) -> str:
    return repr(output.text[-_NEAR_CHARACTERS:]) if output.text else "nothing: it is empty"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(":")
