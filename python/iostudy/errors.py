"""Exceptions of iostudy, with their exit codes.

The tree::

    IostudyError
    ├── UsageError               2    the request cannot be carried out as given
    │   ├── StudyError           2    a study file with one or more problems
    │   ├── ProgramError   126, 127    a program that cannot be executed, or is not found
    │   ├── TargetError          2    the place to work on is missing, unsafe or too small
    │   ├── UnsafePathError      2    a path that another user could redirect
    │   ├── BusyError            2    another iostudy holds the device or the folder
    │   ├── ResourceError        2    a limit on memory, processes or open files was reached
    │   └── LedgerError          2    an output folder that cannot be used or read
    ├── TrialError               3    a trial could not be carried out
    │   ├── ClusterError         3    a Hadoop cluster does not start, or does not serve
    │   ├── SettingError         3    the kernel refused a setting or did not keep it
    │   └── WorkloadError        3    the workload failed, or read back wrong data
    │       └── WorkloadStoppedError 3  it was stopped before its end
    ├── RecordError              3    a result could not be written down
    ├── RestoreError             4    a change could not be restored
    │   └── OutOfReachError      4    its mount or namespace is not here, or another study uses it
    └── InternalError           70    a defect of iostudy itself (EX_SOFTWARE of sysexits.h)

The number is the exit code of the command line. Every error says what was wanted, what was found,
where, and the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from iostudy.visible import visible

USAGE = 2
NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""Of a program that cannot be started, as in POSIX's shell (2.8.2, Exit Status for Commands)."""
TRIAL_FAILED = 3
NOT_RESTORED = 4
INTERNAL = 70


class IostudyError(Exception):
    """An error that is shown to a person as it stands, never as a traceback."""

    exit_code = USAGE

    def __init__(self, wanted: str, *, found: str, where: str, remedy: str) -> None:
        super().__init__(wanted, found, where, remedy)
        self.wanted = wanted
        self.found = found
        self.where = where
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        """Let pickle restore it without its constructor, which takes keywords only."""
        return _restore, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        lines = (
            self.where,
            f"  wanted: {self.wanted}",
            f"  found:  {self.found}",
            f"  remedy: {self.remedy}",
        )
        return visible("\n".join(lines), keep="\n")


def _restore(
    kind: type[IostudyError], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> IostudyError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


class UsageError(IostudyError):
    """The request cannot be carried out as given."""


class ProgramError(UsageError):
    """A program that the user named cannot be started; ``exit_code`` is that of a shell."""

    def __init__(self, wanted: str, *, found: str, where: str, remedy: str, exit_code: int) -> None:
        super().__init__(wanted, found=found, where=where, remedy=remedy)
        self.exit_code = exit_code


class TargetError(UsageError):
    """The place to work on is missing, unsafe or too small."""


class UnsafePathError(UsageError):
    """A path that a user other than root and this one could redirect."""


class BusyError(UsageError):
    """Another iostudy holds the device or the folder."""


class ResourceError(UsageError):
    """A limit on memory, processes or open files was reached."""


class LedgerError(UsageError):
    """An output folder that cannot be used or read."""


class TrialError(IostudyError):
    """A trial could not be carried out."""

    exit_code = TRIAL_FAILED


class NotReadyError(TrialError):
    """A block cannot begin now, and may later."""


class SettingError(TrialError):
    """The kernel refused a setting, or did not keep it."""


class ClusterError(TrialError):
    """A Hadoop cluster does not start, does not answer, or has lost a part of itself."""


class WorkloadError(TrialError):
    """The workload stopped early, or read back data that it had not written."""


class WorkloadStoppedError(WorkloadError):
    """The workload was stopped before its end, and has no figures."""

    def __init__(
        self, wanted: str, *, where: str, found: str = "it was stopped before its end"
    ) -> None:
        remedy = "run it again; a figure of a part is no figure of the whole"
        super().__init__(wanted, found=found, where=where, remedy=remedy)


class RecordError(IostudyError):
    """A result could not be written down; what was recorded before is safe."""

    exit_code = TRIAL_FAILED


class RestoreError(IostudyError):
    """A change could not be restored."""

    exit_code = NOT_RESTORED


class OutOfReachError(RestoreError):
    """A change that stays in the journal: it is not within reach, or another study uses it."""


class InternalError(IostudyError):
    """A defect of iostudy itself; ``where`` its traceback was kept."""

    exit_code = INTERNAL

    def __init__(self, found: str, where: str) -> None:
        remedy = "report it with the traceback"
        super().__init__("no unexpected exception", found=found, where=where, remedy=remedy)

    def __str__(self) -> str:
        return f"internal error: {self.found}; please report it with the traceback in {self.where}"


def raise_together(errors: Iterable[IostudyError]) -> None:
    """Raise the only error, or one UsageError that names all different ones; nothing for none."""
    distinct = tuple({str(error): error for error in errors}.values())
    if len(distinct) == 1:
        raise distinct[0]
    if distinct:
        texts = (" ".join(f"{e.wanted}: {e.found}; {e.remedy}".split()) for e in distinct)
        raise UsageError(
            "everything that the study needs",
            found="".join(f"\n    {text}" for text in texts),
            where="this host",
            remedy="as the lines above say",
        )


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a study file.

    ``line`` counts from 1, and is 0 if there is none; ``path`` is the key path of the value:
    ``factors.block.scheduler``. As text it is one line: no key or value of a file can forge a
    second.
    """

    line: int
    path: str
    message: str
    found: str = ""
    allowed: str = ""
    suggestion: str = ""

    def __str__(self) -> str:
        parts = [self.message]
        if self.found:
            parts.append(f"found {self.found}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.suggestion:
            parts.append(f"did you mean {self.suggestion}?")
        line = f"line {self.line}: " if self.line else ""
        prefix = line + (f"{self.path}: " if self.path else "")
        return visible(prefix + "; ".join(parts))


class StudyError(UsageError):
    """A study file with one or more problems, all of them reported at once."""

    def __init__(self, where: str, problems: tuple[Problem, ...]) -> None:
        count = f"{len(problems)} problem" + ("s" if len(problems) != 1 else "")
        super().__init__(
            "a valid study file",
            found=count,
            where=where,
            remedy="correct what is named above; `iostudy check` tries again without running",
        )
        self.problems = problems

    def __str__(self) -> str:
        lines = [f"{visible(self.where)}: {self.found}"]
        lines += [f"  {problem}" for problem in self.problems]
        return "\n".join([*lines, f"  remedy: {self.remedy}"])
