"""Check for Hadoop's native library, libhadoop, in the programs of a local cluster.

Hadoop's jars do not contain it. Without it Hadoop uses only plain files and sockets, without
posix_fadvise, sync_file_range or descriptors over sockets, and logs at most a warning.
"""

from __future__ import annotations

import os
import re

from iostudy.errors import ClusterError
from iostudy_hadoop.client import Client
from iostudy_hadoop.command import CommandFailedError, CommandLimits, run_command

_CHECKER = "org.apache.hadoop.util.NativeLibraryChecker"
_LIMITS = CommandLimits(seconds=60, silence_seconds=60)


def is_loadable(client: Client) -> bool:
    """Whether a program of this client loads the library; ClusterError if the check fails.

    Daemons of iostudy search the same places.
    """
    command = client.command(_CHECKER)
    try:
        output = run_command(command, _LIMITS, {**os.environ, **client.environment()})
    except CommandFailedError as error:
        raise ClusterError(
            "to know whether Hadoop has its native library",
            found=str(error),
            where=" ".join(command),
            remedy="see what keeps Java from running; the machine may be busy",
        ) from error
    return any(re.match(r"hadoop:\s+true\b", line) for line in output.lines)
