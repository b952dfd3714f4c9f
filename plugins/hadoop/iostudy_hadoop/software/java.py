"""Finds a Java for Hadoop and refuses versions that are known to fail.

Source: Hadoop's wiki, Hadoop Java Versions, lists the supported versions. A newer Java is accepted
unless it is known to fail, because few distributions ship the listed ones.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy_hadoop.command import CommandFailedError, CommandLimits, CommandOutput, run_command
from iostudy_hadoop.spec import numbers

_LIMITS = CommandLimits(seconds=20, silence_seconds=20)
_ENCAPSULATED_SINCE = 16
_OPENED = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")
"""JEP 396 blocks the reflection of YARN's Guice; without this no ResourceManager starts."""


@dataclass(frozen=True)
class Java:
    """A Java that can run the requested Hadoop.

    ``path`` is the program itself, not a link or wrapper. Every JVM that runs a part of Hadoop
    needs ``options``.
    """

    path: Path
    version: str
    options: tuple[str, ...]

    @property
    def home(self) -> Path:
        """The JAVA_HOME for scripts that start this Java."""
        return self.path.parent.parent


NOT_SHARED = "-XX:+PerfDisableSharedMem"
"""Prevents a file in /tmp for jps, which would survive a SIGKILL."""


def process_options(heap: str | None, temporary: Path) -> tuple[str, ...]:
    """Return the options of a cluster process: its maximum heap and its temporary folder."""
    largest = () if heap is None else (f"-Xmx{heap}",)
    return (*largest, NOT_SHARED, f"-Djava.io.tmpdir={temporary}")


@dataclass(frozen=True)
class _Support:
    """Supported versions of Java from some Hadoop version on; ``newest`` None: no limit."""

    since: tuple[int, ...]
    oldest: int
    newest: int | None


# Java 23 has taken away what UserGroupInformation calls; HADOOP-19212 fixes it, in 3.4.3.
_SUPPORT = (
    _Support(since=(3, 5), oldest=17, newest=None),
    _Support(since=(3, 4, 3), oldest=8, newest=None),
    _Support(since=(3,), oldest=8, newest=22),
    _Support(since=(), oldest=7, newest=22),
)


def find_java(hadoop_version: str, environ: Mapping[str, str] = os.environ) -> Java:
    """Return the Java in JAVA_HOME, else in the PATH.

    UsageError if there is none, or if it is broken, too old or too new for this Hadoop. A Java
    named by JAVA_HOME is never replaced by another.
    """
    program = _program(hadoop_version, environ)
    version, home = _version_and_home(program, hadoop_version, environ)
    major = _major(version)
    support = _support(hadoop_version)
    if major < support.oldest or (support.newest is not None and major > support.newest):
        raise _refused(f"Java {version}", str(program), hadoop_version)
    options = _OPENED if major >= _ENCAPSULATED_SINCE else ()
    return Java(home / "bin" / "java", version, options)


def _program(hadoop_version: str, environ: Mapping[str, str]) -> Path:
    home = environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not os.access(program, os.X_OK) or not program.is_file():
            fault = "there is no such program"
            raise _refused(fault, f"{program}, by JAVA_HOME", hadoop_version)
        return program
    found_program = shutil.which("java", path=environ.get("PATH", os.defpath))
    if found_program is None:
        raise _refused("no java in the PATH, and no JAVA_HOME", "this host", hadoop_version)
    return Path(found_program)


def _version_and_home(
    program: Path, hadoop_version: str, environ: Mapping[str, str]
) -> tuple[str, Path]:
    """Return what Java reports: a program in the PATH may be a link or a wrapper."""
    command = (str(program), "-XshowSettings:properties", "-version")
    try:
        output = run_command(command, _LIMITS, environ)
    except CommandFailedError as error:
        raise _refused(str(error), str(program), hadoop_version) from error
    version, home = _property(output, "java.version"), _property(output, "java.home")
    if output.status or not re.match(r"\d", version) or not home:
        fault = f"it ended with exit code {output.status}, and printed: {output.end() or 'nothing'}"
        raise _refused(fault, str(program), hadoop_version)
    return version, Path(home)


def _property(output: CommandOutput, name: str) -> str:
    values = (line.partition("=") for line in output.lines)
    return next((value.strip() for key, _, value in values if key.strip() == name), "")


def _major(version: str) -> int:
    """Return the major version; Java 8 and older call themselves 1.8 (JEP 223)."""
    first, *rest = numbers(version)
    return rest[0] if first == 1 and rest else first


def _support(hadoop_version: str) -> _Support:
    return next(release for release in _SUPPORT if numbers(hadoop_version) >= release.since)


def _refused(found: str, where: str, hadoop_version: str) -> UsageError:
    support = _support(hadoop_version)
    wanted = f"Java {support.oldest} or newer"
    if support.newest is not None:
        wanted = f"Java {support.oldest} to {support.newest}"
    return UsageError(
        f"{wanted}, to run Hadoop {hadoop_version}",
        found=found,
        where=where,
        remedy="install Java 17 or 21, whichever there is: openjdk-N-jre-headless by apt-get "
        "(Debian, Ubuntu), java-N-openjdk-headless by dnf (RHEL, Fedora); name it in JAVA_HOME",
    )
