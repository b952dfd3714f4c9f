"""Installation of a persistence plan: writes and activates all files, or none."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.durable import fsync_directory, write_whole
from iostudy.errors import SettingError, UsageError
from iostudy.folders import require_safe_folder
from iostudy.host.files import ROOT, read_attribute
from iostudy.persist import fstab, udev
from iostudy.persist.dropins import read_text, resolve_path
from iostudy.persist.plan import MARK, Artifact, Expected, PersistencePlan
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.transaction.deferred_signals import defer_signals
from iostudy.settings.transaction.locks import lock_devices, lock_host

CommandRunner = Callable[..., str]

_VERIFY_FSTAB = ("findmnt", "--verify", "--tab-file")
_VERIFY_UDEV = ("udevadm", "verify")
_RESTORED = "all files are restored"


@dataclass(frozen=True)
class TargetHost:
    """The host that receives the files: its root and the runner of its tools."""

    root: Path = ROOT
    run: CommandRunner = commands.run

    def real(self, path: Path) -> Path:
        """Resolve the path of a file, so that a link to it is not replaced.

        UsageError unless it is a regular file, or missing: systemd masks a file by /dev/null.
        """
        real = resolve_path(path, self.root).resolve()
        if real.exists() and not real.is_file():
            raise UsageError(
                f"to write {path}",
                found=f"{real}, which is no regular file",
                where=str(path),
                remedy="remove it if the file is wanted: a link to /dev/null masks it",
            )
        return real


def install(
    rendered: PersistencePlan, host: TargetHost | None = None, *, unsafe_folders: bool = False
) -> tuple[str, ...]:
    """Write and activate everything; return what was done and how to undo it.

    Raises UsageError before anything is written: without root, for lines of others that say
    something else, for a file that its own tool refuses, or that has changed since it was read.
    SettingError where a file cannot be written or a tool does not activate it: the files are then
    as they were, as after a signal. SettingError also where the kernel says something else
    afterwards: the files then stay, and hold from the next start.
    """
    host = host or TargetHost()
    require_installable(rendered)
    for artifact in rendered.artifacts:
        require_safe_folder(host.real(artifact.path).parent, insist=unsafe_folders)
    changing = [artifact for artifact in rendered.artifacts if artifact.changes]
    idle = [a for a in rendered.artifacts if not a.changes and _find_differences(a.expected, host)]
    if not changing and not idle:
        return ("nothing to do: all settings are already configured",)
    with lock_devices(*rendered.places), lock_host():
        for artifact in changing:
            _check(artifact, host)
        for artifact in changing:
            _require_unchanged(artifact, host)
        replaced: tuple[_ReplacedFile, ...] = ()
        try:
            with defer_signals():
                replaced = _write(changing, host)
            active = [text for artifact in (*changing, *idle) for text in _activate(artifact, host)]
        except SettingError:
            raise
        except BaseException as error:
            with defer_signals():
                restored = _restore(replaced)
            if isinstance(error, CommandError) or restored != _RESTORED:
                raise SettingError(
                    "to activate the settings",
                    found=str(error),
                    where="--install",
                    remedy=f"{restored}; fix what is named above and try again. Settings "
                    "activated before the failure stay active until the next boot",
                ) from error
            raise
    return (*(f"written: {file.path}; {file.undo}" for file in replaced), *active)


def require_installable(rendered: PersistencePlan) -> None:
    """UsageError where it must not be installed."""
    if rendered.conflicts:
        raise UsageError(
            "to keep the settings without a conflict on this host",
            found="".join(f"\n    {clash}" for clash in rendered.conflicts),
            where="the configuration of this host",
            remedy="resolve each of them; without --install the files are only printed",
        )
    for artifact in rendered.artifacts:
        if artifact.path != fstab.FILE and artifact.before and MARK not in artifact.before:
            raise not_own(artifact.path, "rename or remove it")
    if os.geteuid() != 0:
        raise UsageError(
            "to write the configuration of this host",
            found="not root",
            where="--install",
            remedy="run it as root; without --install the files are only printed",
        )


def not_own(path: Path, remedy: str) -> UsageError:
    """Return the error for a file that iostudy did not write."""
    return UsageError(
        f"to write {path}",
        found="a file that is not iostudy's",
        where=str(path),
        remedy=remedy,
    )


def _check(artifact: Artifact, host: TargetHost) -> None:
    """UsageError where the tool that will read the file does not accept it."""
    if artifact.path == fstab.FILE:
        complaint = _run_verifier(artifact.after, artifact.path, host, *_VERIFY_FSTAB)
        if complaint and complaint != _run_verifier(
            artifact.before or "", artifact.path, host, *_VERIFY_FSTAB
        ):
            raise _verification_error(_VERIFY_FSTAB, artifact.path, complaint)
    if artifact.path == udev.FILE and _has_udevadm_verify(host):
        complaint = _run_verifier(artifact.after, artifact.path, host, *_VERIFY_UDEV)
        if complaint:
            raise _verification_error(_VERIFY_UDEV, artifact.path, complaint)


def _require_unchanged(artifact: Artifact, host: TargetHost) -> None:
    """UsageError where the file is no longer the one that was planned: no edit is overwritten."""
    if (read_text(artifact.path, host.root) or "") != (artifact.before or ""):
        raise UsageError(
            f"to write {artifact.path}",
            found="it has been changed since it was read",
            where=str(artifact.path),
            remedy="nothing was written; try again, which starts from its new content",
        )


def _run_verifier(text: str, path: Path, host: TargetHost, *command: str) -> str:
    """Run a verifier on a file of that name and content; return its complaint, or empty."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path.name)
        file.write_bytes(os.fsencode(text))
        try:
            host.run(*command, str(file))
        except CommandError as error:
            return str(error).replace(str(file), str(path))
    return ""


def _has_udevadm_verify(host: TargetHost) -> bool:
    """systemd 254 and later have it."""
    try:
        host.run(*_VERIFY_UDEV, "--help")
    except CommandError:
        return False
    return True


def _verification_error(command: tuple[str, ...], path: Path, complaint: str) -> UsageError:
    return UsageError(
        f"to write {path}",
        found=f"`{' '.join(command)}` refuses it: {complaint}",
        where=str(path),
        remedy="nothing was written; fix what it names and try again",
    )


@dataclass(frozen=True)
class _ReplacedFile:
    """A file that is replaced; ``backup`` is the old one next to it, None if there was none."""

    path: Path
    real: Path
    backup: Path | None

    @property
    def undo(self) -> str:
        how = f"rename {self.backup} to {self.real}" if self.backup else "remove it"
        return f"to undo, {how}"

    def restore(self) -> str:
        """Rename the old file back, which needs no space; return why it stayed, or nothing."""
        try:
            if self.backup is None:
                self.real.unlink(missing_ok=True)
            else:
                self.backup.replace(self.real)
            fsync_directory(self.real.parent)
        except OSError as error:
            return f"{self.path} ({error.strerror}), {self.undo}"
        return ""


def _write(changing: Sequence[Artifact], host: TargetHost) -> tuple[_ReplacedFile, ...]:
    """Write all files; if one cannot be written, restore the others and raise SettingError."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    replaced: list[_ReplacedFile] = []
    try:
        for artifact in changing:
            replaced.append(_back_up(artifact, stamp, host))
            real = replaced[-1].real
            like = real if replaced[-1].backup else None
            write_whole(real, os.fsencode(artifact.after), like=like)
    except OSError as error:
        raise SettingError(
            f"to write {artifact.path}",
            found=error.strerror or str(error),
            where=str(error.filename or artifact.path),
            remedy=f"{_restore(replaced)}; free space, or make the folder writable",
        ) from error
    return tuple(replaced)


def _back_up(artifact: Artifact, stamp: str, host: TargetHost) -> _ReplacedFile:
    """Copy the old file to a name of its own, or make the folder of a new one."""
    real = host.real(artifact.path)
    if artifact.before is None:
        real.parent.mkdir(parents=True, exist_ok=True)
        return _ReplacedFile(artifact.path, real, None)
    backup = real.with_name(f"{real.name}.iostudy-{stamp}")
    write_whole(backup, os.fsencode(artifact.before), like=real)
    return _ReplacedFile(artifact.path, real, backup)


def _restore(replaced: Iterable[_ReplacedFile]) -> str:
    """Restore all files that can be, and return what the user has to know of it."""
    stayed = list(filter(None, [file.restore() for file in replaced]))
    return f"not restored: {'; '.join(stayed)}" if stayed else _RESTORED


def _activate(artifact: Artifact, host: TargetHost) -> tuple[str, ...]:
    """Run what makes the file hold, and read it back. CommandError where a tool refuses."""
    missing = [a for a in artifact.activations if not resolve_path(a.needs, host.root).exists()]
    if missing:
        return (missing[0].otherwise,)
    for activation in artifact.activations:
        host.run(*activation.command)
    differing = _find_differences(artifact.expected, host)
    if differing:
        raise SettingError(
            "active settings",
            found="; ".join(differing),
            where="--install",
            remedy="the files are written and take effect at the next boot, unless something else "
            "(TuneD, another rule) sets it too: see `iostudy doctor`",
        )
    return tuple(f"done: {' '.join(a.command)}" for a in artifact.activations)


def _find_differences(expected: Iterable[Expected], host: TargetHost) -> list[str]:
    values = {one: read_attribute(resolve_path(one.path, host.root)) for one in expected}
    return [
        f"{one.path} is {text}" for one, text in values.items() if not _is_set_to(text, one.value)
    ]


def _is_set_to(text: str | None, value: str) -> bool:
    """A file with several names has the one that holds in brackets."""
    words = (text or "").split()
    return words == value.split() or f"[{value}]" in words
