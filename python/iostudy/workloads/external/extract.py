"""Extraction of figures from program output by regular expression or JMESPath."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, Literal

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import Field, model_validator

from iostudy.errors import WorkloadError
from iostudy.workloads.definition import Figure
from iostudy.workloads.external.program import Output, ProgramResult
from iostudy.workloads.option_types import Options

_NEAR_CHARACTERS = 120
_MAX_PATTERN = 1000
"""Characters of a pattern, which finds one number."""


class Extract(Options):
    """The place of a figure in a program's output, its unit, and the better direction."""

    unit: Annotated[str, Field(min_length=1, max_length=20)] = Field(
        description="the unit, such as MiB/s"
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
        """Return the number; WorkloadError without one, with the output that was found."""
        output = ended.stdout if self.stream == "stdout" else ended.stderr
        if self.regex is not None:
            text, near = self._matched(output)
        else:
            text, near = self._at_path(output)
        number = _number(text)
        if number is None:
            way = self.regex or self.jmespath
            raise WorkloadError(
                f"the figure {name}, a number, by {way}",
                found=near,
                where=f"{self.stream} of {ended.program}",
                remedy="run the program by hand, and write a pattern that fits what it prints",
            )
        return number

    def _matched(self, output: Output) -> tuple[str | None, str]:
        matches = re.finditer(str(self.regex), output.text, re.MULTILINE)
        last = None
        for last in matches:  # noqa: B007 - the last one is wanted, and all cannot be kept
            pass
        if last is None:
            return None, f"no match; the output ends with {_end_of(output)}"
        start, end = max(0, last.start() - _NEAR_CHARACTERS), last.end() + _NEAR_CHARACTERS
        return last[1], f"{last[1]!r}, in {output.text[start:end]!r}"

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


def _end_of(output: Output) -> str:
    return repr(output.text[-_NEAR_CHARACTERS:]) if output.text else "nothing: it is empty"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(":")
