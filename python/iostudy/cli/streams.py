"""Standard streams that take any text and report every failure as an error of iostudy.

All that is printed leaves by these streams, whether Click, Rich or iostudy prints it. So a full
disk, a closed stdout and a reader that has gone are handled here, and nowhere else.
"""

from __future__ import annotations

import codecs
import io
import os
import select
import signal
import sys
from typing import TYPE_CHECKING

from iostudy.cli.signals import EndedBySignal
from iostudy.errors import RecordError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT, STDERR = 1, 2
_ENCODING_ERRORS = "iostudy.ascii-marks"
_ASCII_MARKS = str.maketrans(
    {
        "▲": "^",
        "▼": "v",
        "▾": "v",
        "▸": ">",
        "●": "=",
        "◆": "*",
        "±": "+-",
        "≥": ">=",
        "≈": "~",
        "…": "...",
        "–": "-",
        "’": "'",
        "“": '"',
        "”": '"',
        **dict.fromkeys("─━═", "-"),
        **dict.fromkeys("│├└┃", "|"),
        **dict.fromkeys("█▏▁▂▃▄▅▆▇", "#"),
    }
)
"""What iostudy itself prints beyond ASCII, for a terminal whose encoding lacks it."""


def prepare_streams() -> None:
    """Make stdout and stderr as this module describes them, and open those that are closed.

    Streams that are no files of the process, as in tests, stay as they are.
    """
    codecs.register_error(_ENCODING_ERRORS, _ascii_marks)
    _open_closed()
    for name, kind in (("stdout", _Stdout), ("stderr", _Stderr)):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _wrapped(stream, kind))


def flush_streams() -> None:
    """Write what is still in the buffers; RecordError and EndedBySignal as for any output."""
    sys.stdout.flush()
    sys.stderr.flush()


def _open_closed() -> None:
    """Open what is closed of stdin, stdout and stderr (`>&-`), lest a file of ours get its number.

    To print on stdout fails then as it would have; what goes to stderr is dropped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # open(2) takes the lowest number that is free: this one, as those below are taken.
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
            mode = "r" if name == "stdin" else "w"
            stream = os.fdopen(number, mode, closefd=False, encoding="utf-8")
            setattr(sys, name, stream)


def _wrapped(stream: io.TextIOWrapper, kind: type[_Output]) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(kind(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(
        buffered,
        encoding=stream.encoding,
        errors=_ENCODING_ERRORS,
        line_buffering=stream.line_buffering,
    )


class _Output(io.FileIO):
    """A file descriptor that is written to its end also where it is non-blocking."""

    def write(self, data: ReadableBuffer) -> int:
        """The number of bytes that were written; OSError goes to `failed`."""
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])
        except OSError as error:
            # What is left in the buffers is not tried again when the interpreter ends.
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no path of a user
                os.dup2(nowhere.fileno(), self.fileno())
            self.failed(error)
            return memoryview(data).nbytes
        return written

    def failed(self, error: OSError) -> None:
        """Raise what the command ends with, if it is to end."""
        raise NotImplementedError


class _Stdout(_Output):
    """Data: a command that cannot print them has failed.

    Where its reader has gone (`iostudy ... | head`) it ends as SIGPIPE would end it.
    """

    def failed(self, error: OSError) -> None:
        """EndedBySignal without a reader, else RecordError."""
        if isinstance(error, BrokenPipeError):
            raise EndedBySignal(signal.SIGPIPE) from error
        raise RecordError(
            "to print what was asked for",
            found=error.strerror or str(error),
            where="stdout",
            remedy="open stdout, or make room where it goes to, and run the command again",
        ) from error


class _Stderr(_Output):
    """Progress and errors: a study continues without them, and the exit code reports an error."""

    def failed(self, error: OSError) -> None:
        """Drop the text: there is nowhere to report it to."""


def _ascii_marks(error: UnicodeError) -> tuple[str, int]:
    """Marks as ASCII, and escapes for all else that the encoding lacks (codecs error handler)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_ASCII_MARKS)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end
