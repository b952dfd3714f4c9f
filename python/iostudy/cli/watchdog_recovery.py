"""Recovery by the watchdog: ``python -m iostudy.cli.watchdog_recovery JOURNAL PYTHON [FOLDER]``.

`settings/transaction/watchdog.sh` starts it after the end of a run that left changes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from iostudy.errors import NOT_RESTORED, IostudyError
from iostudy.safe_path import open_regular
from iostudy.settings.change import format_restored
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.state import write_report
from iostudy.visible import visible

LOG = "watchdog.log"
PATIENCE_SECONDS = 60.0
"""Programs of the run may use its disks for some seconds after its end."""

_RETRY_SECONDS = 1.0


def recover(journal: Path, output_folder: Path | None) -> int:
    """Restore as the next command would, until the journal is gone; return the exit code."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    directory, restored = journal.parent, []
    while True:
        recovery = restore_stale(directory)
        restored += [
            f"restored: {line}" for line in format_restored(recovery.undo_result.restored_values)
        ]
        is_done = not journal.exists()
        if is_done or time.monotonic() > deadline:
            break
        time.sleep(_RETRY_SECONDS)
    failures = (" ".join(str(error).split()) for error in recovery.undo_result.failures)
    reasons = () if is_done else (*failures, *recovery.skip_reasons)
    lines = [*restored, *(f"not restored: {reason}" for reason in reasons)]
    _report(directory, output_folder, [visible(line) for line in lines])
    return 0 if is_done else NOT_RESTORED


def _report(directory: Path, output_folder: Path | None, lines: Sequence[str]) -> None:
    """Write the lines to the output folder, and for the next command."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    dated = [f"watchdog, {now}: {line}" for line in lines]
    if dated:
        write_report(directory, dated)
    if dated and output_folder is not None:
        text = "".join(f"{line}\n" for line in dated).encode(errors="surrogateescape")
        descriptor = open_regular(output_folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)


def main(arguments: Sequence[str]) -> int:
    """Recover, and print an error for the log of the unit."""
    journal, _, *folder = map(Path, arguments)
    try:
        return recover(journal, folder[0] if folder else None)
    except (IostudyError, OSError) as error:
        print(f"iostudy watchdog: {error}", file=sys.stderr)  # noqa: T201
        return NOT_RESTORED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
