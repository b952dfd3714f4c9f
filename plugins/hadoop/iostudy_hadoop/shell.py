"""File operations in HDFS, and jobs in YARN, through Hadoop's own command-line programs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from iostudy.errors import ClusterError
from iostudy_hadoop.client import Client
from iostudy_hadoop.client_errors import ErrorExplanation, explain_client_error
from iostudy_hadoop.command import CommandFailedError, CommandLimits, CommandOutput, run_command
from iostudy_hadoop.software.java import NOT_SHARED
from iostudy_hadoop.spec import Properties

_LIMITS = CommandLimits(seconds=60, silence_seconds=60)
_QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", NOT_SHARED)
_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")
"""Ends the program with iostudy, so that no HDFS operation runs during recovery after a kill -9."""

SHORT_RETRIES: Properties = {
    "ipc.client.connect.timeout": "5000",
    "ipc.client.connect.retry.interval": "500",
    "ipc.client.connect.max.retries": "1",
    "ipc.client.connect.max.retries.on.timeouts": "1",
    "ipc.client.connect.max.retries.on.sasl": "1",
    "ipc.client.rpc-timeout.ms": "20000",
    "dfs.client.retry.max.attempts": "3",
    "dfs.client.failover.max.attempts": "3",
    "dfs.client.failover.sleep.max.millis": "2000",
    "yarn.resourcemanager.connect.max-wait.ms": "2000",
    "yarn.resourcemanager.connect.retry-interval.ms": "1000",
    "yarn.client.failover-max-attempts": "3",
    "yarn.client.failover-sleep-max-ms": "2000",
}
"""An error within seconds for a silent cluster; Hadoop's defaults retry for minutes.

Only for these programs: measured jobs keep their cluster's retries. Source: core-default.xml,
hdfs-default.xml, yarn-default.xml (Apache Hadoop 3.4.2); times in ms.
"""

_UNFINISHED = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
_APPLICATION = re.compile(r"^application_\d+_\d+\b", re.ASCII)


@dataclass(frozen=True)
class Shell:
    """What starts one of these programs: a Java, Hadoop's jars, and site files.

    ``entry`` is that of `iostudy_hadoop.client.Client`.
    """

    java: Path
    java_options: tuple[str, ...]
    classpath: str
    conf: Path
    entry: tuple[str, ...] = ()

    @classmethod
    def for_client(cls, client: Client) -> Self:
        """Return a shell for the cluster of this client."""
        return cls(client.java, client.java_options, client.classpath, client.conf, client.entry)

    def require_folder(self, uri: str) -> None:
        """ClusterError unless the folder exists and this user may read it."""
        self._files("a folder in HDFS to work in", uri, "-ls", "-d", uri)

    def make_folder(self, uri: str) -> None:
        """Create a folder in an existing one; ClusterError."""
        self._files("to make a folder in HDFS", uri, "-mkdir", uri)

    def remove(self, uri: str) -> bool:
        """Remove it with its content, bypassing the trash; return whether it existed.

        ClusterError.
        """
        wanted = "to remove a folder in HDFS"
        output = self._files(wanted, uri, "-rm", "-r", "-f", "-skipTrash", uri)
        return any(line.startswith("Deleted ") for line in output.lines)

    def kill_jobs(self, tag: str) -> tuple[str, ...]:
        """Kill the YARN applications with the tag and return their ids. ClusterError."""
        wanted = f"to kill the jobs with the tag {tag} in YARN"
        query = ("-list", "-appTags", tag, "-appStates", _UNFINISHED)
        lines = self._applications(wanted, *query).lines
        jobs = tuple(match[0] for line in lines if (match := _APPLICATION.match(line)))
        if jobs:
            self._applications(wanted, "-kill", *jobs)
        return jobs

    def _files(self, wanted: str, where: str, *arguments: str) -> CommandOutput:
        return self._run(wanted, where, "org.apache.hadoop.fs.FsShell", *_options(), *arguments)

    def _applications(self, wanted: str, *arguments: str) -> CommandOutput:
        cli = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
        # Only behind its first word does this program take generic options.
        return self._run(wanted, "YARN", cli, "application", *_options(), *arguments)

    def _run(self, wanted: str, where: str, main_class: str, *arguments: str) -> CommandOutput:
        java = (str(self.java), *_QUICK_START, *self.java_options)
        classpath = f"{self.conf}:{self.classpath}"
        command = (*self.entry, *_WITH_PARENT, *java, "-cp", classpath, main_class, *arguments)
        environment = {**os.environ, "HADOOP_CONF_DIR": str(self.conf)}
        try:
            output = run_command(command, _LIMITS, environment)
        except CommandFailedError as error:
            remedy = (
                "install what cannot be started (setpriv is in util-linux); or see whether a "
                "daemon of the cluster is stopped, or this machine overloaded"
            )
            raise _failed(wanted, where, ErrorExplanation(str(error), remedy)) from error
        if output.status:
            raise _failed(wanted, where, explain_client_error("\n".join(output.lines)))
        return output


def _options() -> tuple[str, ...]:
    """Hadoop's generic options."""
    return tuple(
        part for name, value in SHORT_RETRIES.items() for part in ("-D", f"{name}={value}")
    )


def _failed(wanted: str, where: str, complaint: ErrorExplanation) -> ClusterError:
    return ClusterError(wanted, found=complaint.found, where=where, remedy=complaint.remedy)
