"""What runs in YARN for a client: found by its tag, and killed.

Options and format: org.apache.hadoop.yarn.client.cli.ApplicationCLI, `yarn application` (Apache
Hadoop 2.8 and later; -appTags came with it).
"""

from __future__ import annotations

import os
import re

from iostudy.errors import ClusterError
from iostudy.hadoop.client import Client
from iostudy.hadoop.command import Limits, NotAnsweredError, Said, ask

_PROGRAM = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
_UNFINISHED = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
_NAME = re.compile(r"\s*(application_\d+_\d+)\s")
_LIMITS = Limits(seconds=30.0, silence_seconds=30.0)


def kill_tagged(client: Client) -> tuple[str, ...]:
    """Kill all that carries the client's tag and has not ended; what that was, by its names.

    At the return it is dead. ClusterError if YARN does not answer, or refuses, within a minute.
    """
    listing = _ask(client, "-list", "-appTags", client.tag, "-appStates", _UNFINISHED)
    names = tuple(found[1] for line in listing.lines if (found := _NAME.match(line)))
    if names:
        _ask(client, "-kill", *names)
    return names


def _ask(client: Client, *arguments: str) -> Said:
    command = client.command(_PROGRAM, "application", *arguments)
    try:
        said = ask(command, _LIMITS, {**os.environ, **client.environment()})
    except NotAnsweredError as error:
        raise _not_killed(client, str(error)) from error
    if said.status:
        raise _not_killed(client, f"exit code {said.status}: {said.end()}")
    return said


def _not_killed(client: Client, found: str) -> ClusterError:
    return ClusterError(
        "to kill what was submitted to YARN",
        found=found,
        where=f"applications with the tag {client.tag}",
        remedy="kill them: yarn application -list -appTags TAG, then yarn application -kill ID",
    )
