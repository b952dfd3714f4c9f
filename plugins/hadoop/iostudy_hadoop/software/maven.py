"""Fetches Hadoop's jars with Maven and the user's Maven settings."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.line_handler import LineHandler
from iostudy_hadoop.command import CommandFailedError, CommandLimits, CommandOutput, run_command
from iostudy_hadoop.spec import DEFAULT_VERSION, numbers

# A slow line has half an hour for 105 MB; Maven reports every file, so that silence is a hang.
_LIMITS = CommandLimits(seconds=1800, silence_seconds=120)
_REPORT_EVERY_FILES = 50
_LONGEST_CHARACTERS = 400
_TIMELINE_SINCE = (2, 9)


def fetch(version: str, folder: Path, environ: Mapping[str, str], on_progress: LineHandler) -> None:
    """Download the jars of this Hadoop with all dependencies into the folder.

    UsageError if Maven is missing, fails or hangs.
    """
    program = shutil.which("mvn", path=environ.get("PATH", os.defpath))
    if program is None:
        raise _failed(version, "no mvn in the PATH", "this host", _INSTALL)
    with resources.as_file(resources.files("iostudy_hadoop.software") / "pom.xml") as pom:
        command = (program, *_arguments(version, pom, folder))
        try:
            output = run_command(
                command, _LIMITS, environ, _Progress(version, on_progress).count_line
            )
        except CommandFailedError as error:
            raise _failed(version, f"Maven: {error}", program, _REACH) from error
    if output.status or not any(folder.glob("hadoop-common-*.jar")):
        fault = f"Maven ended with exit code {output.status}, and printed: {_complaint(output)}"
        absent = "Could not find artifact org.apache.hadoop" in fault
        raise _failed(version, fault, program, _ABSENT if absent else _REACH)


_INSTALL = (
    "install it, as by `apt-get install maven` (Debian, Ubuntu) or `dnf install maven` "
    "(RHEL, Fedora), or name an unpacked Hadoop in HADOOP_HOME"
)
_REACH = (
    "see that Maven reaches its repositories (network; proxy and mirror in ~/.m2/settings.xml), or "
    "name an unpacked Hadoop in HADOOP_HOME"
)
_ABSENT = (
    f"name a version that is there in full, as {DEFAULT_VERSION} and 2.10.2 are, or an unpacked "
    "release of it in HADOOP_HOME"
)
_CAUSE = re.compile(r"Could not (find|transfer) artifact .*?(?= -> \[|$)")


def _arguments(version: str, pom: Path, folder: Path) -> list[str]:
    """Return the arguments: batch mode, strict checksums, and no cached failures."""
    profiles = ["-Ptimeline"] if numbers(version) >= _TIMELINE_SINCE else []
    return [
        *("-B", "-C", "-U", "-f", str(pom), *profiles),
        *("-Dstyle.color=never", f"-Dhadoop.version={version}", f"-DoutputDirectory={folder}"),
        "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies",
    ]


class _Progress:
    """Reports the number of files at intervals."""

    def __init__(self, version: str, on_progress: LineHandler) -> None:
        self._version = version
        self._on_progress = on_progress
        self._files = 0

    def count_line(self, line: str) -> None:
        if "Downloaded from" in line:
            self._files += 1
            if self._files % _REPORT_EVERY_FILES == 0:
                self._on_progress(f"Hadoop {self._version}: {self._files} files have come")


def _complaint(output: CommandOutput) -> str:
    """Return the cause in Maven's first error; the rest is advice on its use."""
    errors = (line.removeprefix("[ERROR] ") for line in output.lines if line.startswith("[ERROR]"))
    text = next(errors, "") or output.end() or "nothing"
    cause = _CAUSE.search(text)
    return (cause[0] if cause else text)[:_LONGEST_CHARACTERS]


def _failed(version: str, found: str, where: str, remedy: str) -> UsageError:
    return UsageError(f"the jars of Hadoop {version}", found=found, where=where, remedy=remedy)
