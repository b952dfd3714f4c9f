"""Parser of DiskSim's parameter files: blocks of ``name = value`` in braces, and lists."""

from __future__ import annotations

import re
from typing import TypeAlias

Value: TypeAlias = str | list["Value"] | dict[str, "Value"]

_COMMENT = re.compile(r"#[^\n]*")
_TOKEN = re.compile(r"[\[\]{},=]|[^\[\]{},=\s][^\[\]{},=\n]*")


def parse(text: str) -> dict[str, Value]:
    """Content of the first block. ValueError if the text is not a block."""
    tokens = [match.group().strip() for match in _TOKEN.finditer(_COMMENT.sub("", text))]
    if tokens[1:2] != ["{"]:
        raise ValueError("no block; expected a name and `{`")
    return _Parser(tokens[2:]).block()


class _Parser:
    """Recursive descent over tokens; the next one is last in the list."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens[::-1]

    def block(self) -> dict[str, Value]:
        """Values up to the closing brace."""
        values: dict[str, Value] = {}
        while (name := self._next()) != "}":
            if name == ",":
                continue
            if (sign := self._next()) != "=":
                raise ValueError(f"`{sign}` after `{name}`; expected `=`")
            values[name] = self._value()
        return values

    def _value(self) -> Value:
        token = self._next()
        if token == "[":
            return self._list()
        if self._tokens and self._tokens[-1] == "{":
            self._next()
            return self.block()
        return token

    def _list(self) -> list[Value]:
        values: list[Value] = []
        while (token := self._next()) != "]":
            if token != ",":
                self._tokens.append(token)
                values.append(self._value())
        return values

    def _next(self) -> str:
        if not self._tokens:
            raise ValueError("the file ends inside a block")
        return self._tokens.pop()
