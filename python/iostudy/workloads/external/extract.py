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
_SCALED = re.compile(
    r"(?:\s?([kKMGT](?:i?B|bits?)|[nuµm]s|s|min)|([kKMGT]))(?:ec)?(/s(?:ec)?|ps)?(?![\w/])"
)
"""A unit that many programs choose by the size of the number, as dd and time do."""
_MAX_PATTERN = 1000
"""Characters of a pattern, which finds one number."""


class Extract(Options):
    """The place of a figure in a program's output, its unit, and the better direction."""

    unit: Annotated[str, Field(min_length=1, max_length=20)] = Field(
        description="the unit, such as MiB/s; where the number has another one of size or time, "
        "as 980 KiB/s has, the run fails",
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
        where = f"{self.stream} of {ended.program}"
        unit = ""
        if self.regex is not None:
            text, near, unit = self._matched(output)
        else:
            text, near = self._at_path(output)
        number = _number(text)
        if number is None:
            way = self.regex or self.jmespath
            raise WorkloadError(
                f"the figure {name}, a number, by {way}",
                found=near,
                where=where,
                remedy="run the program by hand, and write a pattern that fits what it prints",
            )
        if unit and not self._fits(unit):
            raise WorkloadError(
                f"the figure {name} in one unit, here {self.unit}",
                found=f"{unit}: {near}",
                where=where,
                remedy=f"if every run prints {unit}, say so: --unit {unit} of iostudy try, or "
                "`unit` in a study file; otherwise let the program print one unit",
            )
        return number

    def _fits(self, unit: str) -> bool:
        """Whether no run with another unit can be mixed with this one."""
        declared = _read_unit(_SCALED.fullmatch(self.unit))
        in_pattern = str(self.regex).rpartition(")")[2]
        return unit == declared or (not declared and unit in in_pattern)

    def _matched(self, output: Output) -> tuple[str | None, str, str]:
        """The number, the text about it, and its unit if that is one of `_SCALED`."""
        matches = re.finditer(str(self.regex), output.text, re.MULTILINE)
        last = None
        for last in matches:  # noqa: B007 - the last one is wanted, and all cannot be kept
            pass
        if last is None:
            return None, f"no match; the output ends with {_end_of(output)}", ""
        start, end = max(0, last.start() - _NEAR_CHARACTERS), last.end() + _NEAR_CHARACTERS
        near = f"{last[1]!r}, in {output.text[start:end]!r}"
        return last[1], near, _read_unit(_SCALED.match(output.text, last.end(1)))

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


def _read_unit(match: re.Match[str] | None) -> str:
    """The unit in one spelling: MB/sec is MB/s."""
    if match is None:
        return ""
    per_second = "/s" if match[3] else ""
    return (match[1] or match[2]).replace("KB", "kB") + per_second


def _end_of(output: Output) -> str:
    return repr(output.text[-_NEAR_CHARACTERS:]) if output.text else "nothing: it is empty"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(":")
