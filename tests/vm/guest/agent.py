"""Runs in the guest: carries out the commands that come through a port, one line of JSON each.

``iostudy`` itself is loaded once and forked for every command: to import it anew takes 15 s on an
emulated processor.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NoReturn

from iostudy.cli.main import main as iostudy

PORT = "/dev/virtio-ports/agent"


def main() -> None:
    """Answer every request with the command's exit code and output."""
    with Path(PORT).open("r+b", buffering=0) as port:
        for line in iter(port.readline, b""):
            answer = memoryview(json.dumps(carry_out(**json.loads(line))).encode() + b"\n")
            while answer:
                answer = answer[port.write(answer) :]


def carry_out(argv: list[str], seconds: float, text: str) -> dict[str, Any]:
    """Kills the command after that time. Files take the output: what it leaves running has them."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(text.encode())
        files[0].seek(0)
        child = os.fork()
        if child == 0:
            become(argv, files)
        returncode = ended(child, seconds)
        out, err = (content(file) for file in files[1:])
        return {"returncode": returncode, "stdout": out, "stderr": err}


def become(argv: list[str], files: list[IO[bytes]]) -> NoReturn:
    """Turn this process into the command."""
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    os.setsid()
    try:
        if argv[0] != "iostudy":
            os.execvp(argv[0], argv)
        sys.argv = argv
        iostudy()
    except SystemExit as end:
        finish(end.code if isinstance(end.code, int) else 0)
    except BaseException:  # noqa: BLE001 - reported as an interpreter would
        sys.excepthook(*sys.exc_info())
        finish(1)
    finish(0)


def finish(code: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def ended(child: int, seconds: float) -> int:
    """The exit code, or the signal as a negative number."""
    handle = os.pidfd_open(child)
    if not select.select([handle], [], [], seconds)[0]:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="backslashreplace")


if __name__ == "__main__":
    main()
