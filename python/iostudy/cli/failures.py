"""Mapping of operating system and internal errors to errors of iostudy."""

from __future__ import annotations

import codecs
import errno
import os
import sys
import time
import traceback

from iostudy.errors import (
    InternalError,
    IostudyError,
    RecordError,
    ResourceError,
    TargetError,
    UsageError,
)
from iostudy.safe_path import open_directory, require_safe
from iostudy.settings.transaction.state import make_directory, state_directory

_PATH_ERRNOS = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR)
"""Errors of path lookup (path_resolution(7)). Each command explains ENOENT itself."""
_KEPT_TRACEBACKS = 10
"""Number of the newest files with a traceback that stay in the state directory."""
_WRITE_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_REMEDIES = {
    errno.EAGAIN: "raise the limit of processes (ulimit -u, pids.max of the control group)",
    errno.ENOMEM: "free memory, or raise its limit (ulimit -v, memory.max)",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "raise the limit of open files of the host (sysctl fs.file-max)",
}
_THREAD_MESSAGES = (
    "start new thread",
    "failed to spawn thread",
    "Resource temporarily unavailable",
)
_MEMORY_MESSAGES = ("Cannot allocate memory", "failed to map segment", "memory allocation")


def explain(error: BaseException) -> IostudyError:
    """Return an error that a user can act on, else InternalError with a saved traceback.

    Paths come into every command and each look at one may fail, and a limit of the host may strike
    anywhere: hence here, and once.
    """
    if isinstance(error, OSError) and error.filename is not None:
        explained = _explain_path_error(error)
        if explained is not None:
            return explained
    if isinstance(error, UnicodeEncodeError) and codecs.lookup(error.encoding).name != "utf-8":
        return UsageError(
            "paths and arguments in the encoding of the locale",
            found=f"{error.object!a}",
            where=f"the locale, whose encoding is {error.encoding}",
            remedy="run the command with LC_ALL=C.UTF-8",
        )
    number = _find_exhausted_resource(error)
    if number is not None:
        return ResourceError(
            "enough memory, processes and open files for the command",
            found=_summarize(error),
            where="the limits of this process and of its control group",
            remedy=_REMEDIES[number],
        )
    return InternalError(_summarize(error), _keep_traceback(error))


def _explain_path_error(error: OSError) -> IostudyError | None:
    """The error of a path that cannot be examined or written to; None for any other."""
    fault, where = str(error.strerror), os.fsdecode(error.filename)
    if error.errno in _PATH_ERRNOS:
        remedy = "name another path, or run it as a user who may enter its folders"
        return TargetError("to examine a path", found=fault, where=where, remedy=remedy)
    if error.errno == errno.EROFS:
        remedy = "name a folder on a file system that is mounted for writing"
        return UsageError("to write to a path", found=fault, where=where, remedy=remedy)
    if error.errno in _WRITE_ERRNOS:
        remedy = "free space there, or see the kernel log (dmesg)"
        return RecordError("to write to a path", found=fault, where=where, remedy=remedy)
    return None


def _find_exhausted_resource(error: BaseException) -> int | None:
    """The error number of the resource that a limit denied; None if that is not the cause.

    Python, the loader and the threads of Rust libraries report it as text only. A panic of Rust
    is pyo3's PanicException, which derives from BaseException.
    """
    if isinstance(error, OSError):
        return error.errno if error.errno in _REMEDIES else None
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    text = str(error)
    if any(words in text for words in _THREAD_MESSAGES):
        return errno.EAGAIN
    return errno.ENOMEM if any(words in text for words in _MEMORY_MESSAGES) else None


def _summarize(error: BaseException) -> str:
    return " ".join(traceback.format_exception_only(error)[-1].split())


def _keep_traceback(error: BaseException) -> str:
    """The file with the traceback, readable by this user alone; printed where there can be none.

    Returns where it is.
    """
    text = "".join(traceback.format_exception(error))
    directory = state_directory()
    path = directory / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        make_directory(directory)
        require_safe(directory)
        # Room for one more; the names sort by time.
        for old in sorted(directory.glob("crash-*.txt"))[: 1 - _KEPT_TRACEBACKS]:
            old.unlink(missing_ok=True)
        with open_directory(directory) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path.name, flags, 0o600, dir_fd=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except (OSError, UsageError):
        sys.stderr.write(text)
        return "stderr, above"
    return str(path)
