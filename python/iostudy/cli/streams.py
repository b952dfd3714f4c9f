"""Standard streams that accept any text and report every failure as an error of iostudy.

Click, Rich and iostudy all print through these streams. So a full disk, a closed stdout and a
vanished reader are handled here alone.
"""

from __future__ import annotations

import codecs
import io
import os
import select
import signal
import sys
from abc import ABC, abstractmethod
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
        "◀": "<",
        "▶": ">",
        "┊": ":",
        **dict.fromkeys("┼┿", "+"),
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
"""ASCII replacements of the characters that iostudy prints, for other encodings."""


def replace_unencodable(text: str, encoding: str) -> str:
    """Return the text as a stream of this encoding prints it, by which its width is known."""
    return text.encode(encoding, _ENCODING_ERRORS).decode(encoding)


def prepare_streams() -> None:
    """Wrap stdout and stderr, and open the standard streams that are closed.

    Streams that are no files of the process, as in tests, are left unchanged.
    """
    _open_closed_streams()
    for name, kind in (("stdout", _Stdout), ("stderr", _Stderr)):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _wrap(stream, kind))


def flush_streams() -> None:
    """Flush the buffers; RecordError and EndedBySignal as for any output."""
    sys.stdout.flush()
    sys.stderr.flush()


def _open_closed_streams() -> None:
    """Open closed standard streams (`>&-`), so that no later file gets their numbers.

    Printing on stdout still fails; text for stderr is dropped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # open(2) takes the lowest number that is free: this one, as those below are taken.
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
            mode = "r" if name == "stdin" else "w"
            stream = os.fdopen(number, mode, closefd=False, encoding="utf-8")
            setattr(sys, name, stream)


def _wrap(stream: io.TextIOWrapper, kind: type[_Output]) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(kind(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(
        buffered,
        encoding=stream.encoding,
        errors=_ENCODING_ERRORS,
        line_buffering=stream.line_buffering,
    )


class _Output(io.FileIO, ABC):
    """File descriptor that is written completely, even if it is non-blocking."""

    def write(self, data: ReadableBuffer) -> int:
        """Write all bytes and return their number; OSError goes to `handle_error`."""
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])
        except OSError as error:
            # Prevents another attempt to write the buffers when the interpreter exits.
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no path of a user
                os.dup2(nowhere.fileno(), self.fileno())
            self.handle_error(error)
            return memoryview(data).nbytes
        return written

    @abstractmethod
    def handle_error(self, error: OSError) -> None:
        """Raise the error that ends the command, if any."""


class _Stdout(_Output):
    """Data stream: a command that cannot print its data fails.

    If the reader is gone (`iostudy ... | head`), the command ends as after SIGPIPE.
    """

    def handle_error(self, error: OSError) -> None:
        """Raise EndedBySignal if the reader is gone, else RecordError."""
        if isinstance(error, BrokenPipeError):
            raise EndedBySignal(signal.SIGPIPE) from error
        raise RecordError(
            "to print the output",
            found=error.strerror or str(error),
            where="stdout",
            remedy="open stdout, or free space at its destination, and run the command again",
        ) from error


class _Stderr(_Output):
    """Stream of progress and errors: a study continues if it fails."""

    def handle_error(self, error: OSError) -> None:
        """Drop the text: no stream is left to report the failure."""


def _ascii_marks(error: UnicodeError) -> tuple[str, int]:
    """Replace unencodable marks by ASCII, other characters by escapes (codecs error handler)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_ASCII_MARKS)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


codecs.register_error(_ENCODING_ERRORS, _ascii_marks)
