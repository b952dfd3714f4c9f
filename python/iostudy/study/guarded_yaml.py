"""YAML 1.2 reader without anchors, aliases and tags, with bounds on size and depth."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    NodeEvent,
    ScalarEvent,
)
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.parser import RoundTripParser
from ruamel.yaml.scalarfloat import ScalarFloat
from ruamel.yaml.scalarint import ScalarInt

from iostudy.workloads.option_types import WRITTEN

MAX_DEPTH = 20
MAX_VALUES = 10_000
"""Keys and values of a file: a study of 1000 named configurations with four levels each has them.

The parser reads about 20,000 a second.
"""
MAX_DIGITS = 100
"""Digits of a number; the largest that any option takes has 19."""

_VERSION = (1, 2)
_UNPRINTABLE = re.compile(r"[\0\ud800-\udfff]")
"""NUL ends an argument (execve(2)), and half of a surrogate pair has no UTF-8 form."""
_NUMBER = re.compile(r"[-+]?\.?[0-9]\S*")


class RefusedError(MarkedYAMLError):
    """Valid YAML that no study needs; ``found`` says what it is, ``allowed`` what to write."""

    def __init__(self, event: Any, found: str, allowed: str) -> None:
        super().__init__(problem=found, problem_mark=event.start_mark)
        self.found = found
        self.allowed = allowed


def new_yaml() -> YAML:
    """A reader and writer of study files; it raises MarkedYAMLError with the line of a problem.

    ReaderError, which has no line, is left to a character that YAML does not know.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.Parser = _GuardedParser
    yaml.Constructor = _MarkingConstructor
    return yaml


class _GuardedParser(RoundTripParser):
    """A parser that counts what it gives and raises RefusedError at the first excess."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._depth = 0
        self._values = 0

    def process_directives(self) -> Any:
        token = self.scanner.peek_token()
        try:
            return super().process_directives()
        except AssertionError as error:  # a version that ruamel does not know
            raise RefusedError(token, "a directive for another version", _VERSIONS) from error

    def get_event(self) -> Any:
        event = super().get_event()
        self._depth += isinstance(event, CollectionStartEvent)
        self._depth -= isinstance(event, CollectionEndEvent)
        self._values += isinstance(event, NodeEvent)
        if self._depth > MAX_DEPTH:
            raise RefusedError(event, f"more than {MAX_DEPTH} levels deep", _PLAIN)
        if self._values > MAX_VALUES:
            raise RefusedError(event, "one more", f"at most {MAX_VALUES} keys and values")
        _refuse(event)
        return event


_VERSIONS = "YAML 1.2, with %YAML 1.2 or without a directive"
_TEXT = "texts without NUL and surrogates"
_PLAIN = "plain mappings, lists and values"


def _refuse(event: Any) -> None:
    """RefusedError for an event that says more, or other, than what is written."""
    match event:
        case DocumentStartEvent(version=version) if version not in (None, _VERSION):
            fault = f"the directive %YAML {version[0]}.{version[1]}"
            raise RefusedError(event, fault, _VERSIONS)
        case AliasEvent(anchor=anchor):
            raise RefusedError(event, f"the alias *{anchor}", _PLAIN)
        case NodeEvent(anchor=str(anchor)):
            raise RefusedError(event, f"the anchor &{anchor}", _PLAIN)
        case CollectionStartEvent(tag=str(tag)) | ScalarEvent(tag=str(tag)):
            raise RefusedError(event, f"the tag {tag}", _PLAIN)
        case ScalarEvent(value="<<"):
            raise RefusedError(event, "the merge key <<", _PLAIN)
        case ScalarEvent(value=value) if character := _UNPRINTABLE.search(value):
            raise RefusedError(event, f"the character U+{ord(character[0]):04X}", _TEXT)
        case ScalarEvent(value=value, style=None) if len(value) > MAX_DIGITS and _NUMBER.fullmatch(
            value
        ):
            fault = f"a number of {len(value)} characters"
            raise RefusedError(event, fault, f"at most {MAX_DIGITS}; quote it if it is a text")
        case _:
            pass


class _MarkingConstructor(RoundTripConstructor):
    """A constructor whose every failure has the line of the value that it failed at.

    A number keeps its text: as an argument of a program, 1.10 and +10 are not 1.1 and 10.
    """

    def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001
        try:
            value = super().construct_object(node, deep)
        except (ArithmeticError, LookupError, ValueError) as error:
            # ruamel fails so on scalars such as -_ and 2001-02-30.
            raise ConstructorError(None, None, str(error), node.start_mark) from error
        if type(value) is not int and not isinstance(value, ScalarInt | ScalarFloat):
            return value
        if node.value == str(value):
            return value
        written = ScalarInt(value) if type(value) is int else value
        setattr(written, WRITTEN, node.value)
        return written

    def construct_mapping(  # type: ignore[override]
        self,
        node: Any,
        maptyp: Any,
        deep: bool = False,  # noqa: FBT001
    ) -> Any:
        for key, _ in node.value:
            if not isinstance(key, ScalarNode):
                words = "a key that is a list or a mapping"
                raise ConstructorError(None, None, words, key.start_mark)
        return super().construct_mapping(node, maptyp, deep)
