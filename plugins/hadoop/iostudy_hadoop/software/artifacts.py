"""Provides Hadoop's jars from HADOOP_HOME, or from Maven through a cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.line_handler import LineHandler, ignore_line
from iostudy_hadoop.software import installation, maven
from iostudy_hadoop.software.cache import cache_directory, fetch_once
from iostudy_hadoop.spec import DEFAULT_VERSION, VERSION


@dataclass(frozen=True)
class Distribution:
    """Hadoop's jars with tests and examples; ``classpath`` is for ``java -cp``.

    ``source`` names their origin, for messages and the circumstances.
    """

    version: str
    classpath: str
    source: str


def distribution(
    version: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    on_progress: LineHandler = ignore_line,
) -> Distribution:
    """Return the Hadoop of this version; without one, that of HADOOP_HOME, else DEFAULT_VERSION.

    An installation in HADOOP_HOME is used if it has this version. Otherwise Maven downloads the
    jars once per version. That takes a minute, and ``on_progress`` gets its messages. UsageError
    if the version does not exist or cannot be downloaded.
    """
    if version is not None and not VERSION.fullmatch(version):
        raise _no_version(version)
    home = environ.get("HADOOP_HOME")
    if home and (installed := installation.read(home)).version == (version or installed.version):
        return Distribution(installed.version, installed.classpath(), f"HADOOP_HOME={home}")
    wanted = version or DEFAULT_VERSION
    folder = cache_directory(environ) / "hadoop" / wanted

    def fetch(into: Path) -> None:
        maven.fetch(wanted, into, environ, on_progress)

    fetch_once(folder, f"Hadoop {wanted}", fetch, on_progress)
    return Distribution(wanted, f"{folder}/*", f"Maven, kept in {folder}")


def _no_version(version: str) -> UsageError:
    return UsageError(
        "a version of Hadoop, such as 3.4.2, 3.3.6 or 2.10.2",
        found=version,
        where="the version of Hadoop",
        remedy="leave it out for the default, or name one that is released",
    )
