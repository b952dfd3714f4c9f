"""Messages of a controller and the agent of a node: lines of JSON, which are data only (pure).

A request names a function and its arguments; an answer has the value or the error of one. The value
is checked against the type that the function returns before anything uses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, to_json

from iostudy.errors import IostudyError

T = TypeVar("T")
GREETING = b"iostudy fleet agent 1\n"
"""The first line of an agent. What comes before is of a login shell."""
MOST_ANSWER_BYTES = 4 << 20
MOST_REQUEST_BYTES = 64 << 20
_MOST_DEPTH = 32
_MOST_ERROR = 10_000
"""Characters of an error."""


class CallRequest(BaseModel):
    """A call: the name of a function, its arguments, and a number of its own."""

    model_config = ConfigDict(frozen=True)

    number: int
    function: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def run(self, functions: Mapping[str, Callable[..., Any]]) -> bytes:
        """Call the function of that name; return the answer, which may be its error."""
        try:
            call = _call_adapter(functions[self.function])
            value = call.validate_python(ArgsKwargs(self.arguments, self.options))
            content = _to_line({"number": self.number, "value": value})
            if len(content) > MOST_ANSWER_BYTES:
                raise ValueError(
                    f"an answer of {len(content)} bytes, of which {MOST_ANSWER_BYTES} may be sent"
                )
        except Exception as error:  # noqa: BLE001 - whatever it is, the controller gets its text
            text = describe_error(error)[:_MOST_ERROR]
            return _to_line({"number": self.number, "error": text})
        return content


class CallAnswer(BaseModel):
    """The value of a call, or its error; ``number`` is that of the request."""

    model_config = ConfigDict(frozen=True)

    number: int
    value: Any = None
    error: Annotated[str, Field(max_length=_MOST_ERROR)] | None = None

    def read_value(self, call: partial[T]) -> T:
        """The value as the function returns it; ValueError if it is another."""
        _require_plain(self.value)
        try:
            value: T = _value_adapter(call.func).validate_python(self.value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            key = ".".join(map(str, first["loc"]))
            raise ValueError(f"{key}: {first['msg']}" if key else first["msg"]) from error
        return value


def encode_request(number: int, call: partial[Any]) -> bytes:
    """The line that makes a node call this function of an agent."""
    name = call.func.__name__
    return _to_line(
        {"number": number, "function": name, "arguments": call.args, "options": call.keywords}
    )


def describe_error(error: BaseException) -> str:
    """One line about an error of a call or of the connection."""
    text = " ".join(str(error).split())
    if isinstance(error, IostudyError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _to_line(content: Mapping[str, Any]) -> bytes:
    return to_json(content, bytes_mode="base64", inf_nan_mode="constants") + b"\n"


@lru_cache
def _call_adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """Checks the arguments of a function and calls it."""
    adapter: TypeAdapter[Any] = TypeAdapter(function)  # type: ignore[arg-type]
    return adapter


@lru_cache
def _value_adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(function, include_extras=True)["return"])


def _require_plain(value: object) -> None:
    """ValueError for a value that is too deep, or has a number that is not finite."""
    level = [value]
    for _ in range(_MOST_DEPTH):
        if any(isinstance(item, float) and not math.isfinite(item) for item in level):
            raise ValueError("a number that is not finite")
        level = [inner for item in level for inner in _list_inner(item)]
        if not level:
            return
    raise ValueError(f"deeper than {_MOST_DEPTH} levels")


def _list_inner(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
