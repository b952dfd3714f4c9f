"""Lines of tmpfiles.d that write to kernel files.

The first of several lines for a path is taken. Source: tmpfiles.d(5), and the behaviour of
systemd 252.
"""

from __future__ import annotations

import re
import shlex
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator

from iostudy.host.configuration.assignment import (
    BYTE_ORDER_MARK,
    MARKED,
    Assignment,
    ConfigurationLine,
    Stage,
    common_path,
    content_lines,
    effective_files,
    host_path,
)
from iostudy.host.files import Reader

_TMPFILES_WRITE = re.compile(r"(?:w|f\+|F)(?P<modifiers>[+!\-=~^$]*)")


def parse_tmpfiles(text: str) -> Iterator[tuple[ConfigurationLine, str, str]]:
    """Return every line that writes to a path below /sys or /proc.

    ``f`` writes only to a new file. A value from a credential (``^``) is unknown.
    """
    for line in content_lines(text, comments="#"):
        fields = line.text.removeprefix(BYTE_ORDER_MARK).split(None, 6)
        written = _TMPFILES_WRITE.fullmatch(fields[0])
        if len(fields) == 7 and written:
            path = _unquoted(fields[1])
            if path.startswith(("/sys/", "/proc/")):
                yield line, path, _argument(fields[6], written["modifiers"])


def _argument(text: str, modifiers: str) -> str:
    if "^" in modifiers:
        return "*"
    if "~" in modifiers:
        try:
            return b64decode(text, validate=True).decode()
        except (Error, UnicodeDecodeError):
            return text
    return text.removesuffix("\\n")


def read_tmpfiles(reader: Reader) -> Iterator[Assignment]:
    """Yield the lines that write, in the order of the files."""
    for file in effective_files(reader.root, "tmpfiles.d", ".conf"):
        for line, path, value in parse_tmpfiles(reader.text(file) or ""):
            yield Assignment(
                *(host_path(file, reader.root), line.first, line.last, path, value, line.text),
                path=common_path(path, reader.root),
                stage=Stage.TMPFILES,
                ineffective=MARKED if line.text[0] == BYTE_ORDER_MARK else "",
            )


def _unquoted(field: str) -> str:
    try:
        return "".join(shlex.split(field))
    except ValueError:
        return field
