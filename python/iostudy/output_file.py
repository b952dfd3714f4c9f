"""Files that a command writes where its user says."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from iostudy import durable
from iostudy.errors import RecordError, UsageError
from iostudy.folders import require_safe_folder

STDOUT = ("-", "/dev/stdout")
_APPEND = (
    os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
) | os.O_NOCTTY


@dataclass(frozen=True)
class OutputFile:
    """A file of the user's choice, or the standard output; every command writes it through this.

    A file is new or regular, in a folder that no other user can redirect (`require_safe`). No link
    is followed in its place.
    """

    name: str

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.name)

    @property
    def is_stdout(self) -> bool:
        """Whether it is the standard output."""
        return self.name in STDOUT

    def require_safe(self, *, insist: bool, new: bool = False) -> None:
        """Raise an error if it cannot be written safely, before there is something to write.

        UnsafePathError as `require_safe_folder`, which ``insist`` waives; UsageError for a link,
        another kind of file, a missing folder, or with ``new`` for any file.
        """
        if self.is_stdout:
            return
        require_safe_folder(self.path.parent, insist=insist)
        if obstacle := self._find_obstacle(new=new):
            raise UsageError(
                "the name of a new file" if new else "a file to write, which is new or regular",
                found=obstacle,
                where=self.name,
                remedy="give another name, in a folder that exists and can be written to, or - "
                "for the standard output if the command prints text",
            )

    def _find_obstacle(self, *, new: bool) -> str:
        try:
            mode = self.path.lstat().st_mode
        except FileNotFoundError:
            return "" if self.path.parent.is_dir() else "its folder does not exist"
        except OSError as error:
            return error.strerror or str(error)
        if new:
            return "a file of this name"
        return "" if stat.S_ISREG(mode) else "a link or another kind of file"

    def write(self, content: bytes) -> None:
        """Write the whole file, which replaces an earlier one; RecordError if that fails."""
        if self.is_stdout:
            sys.stdout.write(content.decode())
            return
        with self._recording():
            if obstacle := self._find_obstacle(new=False):  # it would be replaced
                raise OSError(errno.EPERM, obstacle, self.name)
            durable.write_whole(self.path, content)

    def append(self, text: str) -> None:
        """Append the text; RecordError if that fails, also for a link and for a second name."""
        if self.is_stdout:
            sys.stdout.write(text)
            return
        with self._recording(), os.fdopen(os.open(self.path, _APPEND, 0o644), "ab") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise OSError(errno.EPERM, "no regular file, or one with several names", self.name)
            file.write(text.encode())

    @contextmanager
    def open_new(self) -> Iterator[BinaryIO]:
        """Open a new file for content of any size, which has its name once it is complete.

        RecordError if it cannot be written, or if the name was taken in the meantime.
        """
        with self._recording(), durable.open_new(self.path) as file:
            yield file

    @contextmanager
    def _recording(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordError(
                "to write a file",
                found=error.strerror or str(error),
                where=self.name,
                remedy="give a file in a folder that exists and can be written to, with free space",
            ) from error
