"""CPU use of `iostudy watch`, compared with iostat and top on the same terminal.

As root: 40 loop devices, two of which are read from all the time. Each program draws once a second
in a pseudo-terminal of its own; its CPU time counts from when the history of watch is full: until
then lines of idle devices change as well.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from tests.fixtures_loop import loop_disk

DEVICES, BUSY = 40, 2
SETTLED_SECONDS, SECONDS = 40.0, 20.0
LINES, COLUMNS = 50, 160
_PROGRAMS = {
    "iostudy watch": [sys.executable, "-m", "iostudy", "watch"],
    "iostudy watch --plain": [sys.executable, "-m", "iostudy", "watch", "--plain"],
    "iostat -dxk 1": ["iostat", "-dxk", "1"],
    "top -d 1": ["top", "-d", "1"],
}


def main() -> None:
    """Print the share of a core that each took, and watch's as ratios."""
    with ExitStack() as stack:
        disks = [stack.enter_context(loop_disk(1 << 20)) for _ in range(DEVICES)]
        for disk in disks:
            subprocess.run(_reading(disk, 1), check=True)
        readers = [subprocess.Popen(_reading(disk, 1 << 40)) for disk in disks[:BUSY]]
        try:
            shares = measure()
        finally:
            for reader in readers:
                reader.kill()
                reader.wait()
    for name, share in shares.items():
        print(f"{name:<22} {100 * share:.2f} % of a core")
    for peer in ("iostat -dxk 1", "top -d 1"):
        print(f"iostudy watch / {peer}: {shares['iostudy watch'] / shares[peer]:.1f}")


def measure() -> dict[str, float]:
    """CPU seconds per second of each program, all at the same time."""
    running = {name: _run_in_terminal(command) for name, command in _PROGRAMS.items()}
    try:
        time.sleep(SETTLED_SECONDS)
        before = {name: _cpu_seconds(pid) for name, pid in running.items()}
        time.sleep(SECONDS)
        return {name: (_cpu_seconds(pid) - before[name]) / SECONDS for name, pid in running.items()}
    finally:
        for pid in running.values():
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def _run_in_terminal(command: list[str]) -> int:
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color"})
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    threading.Thread(target=_drain, args=(master,), daemon=True).start()
    return pid


def _drain(master: int) -> None:
    """Read what is drawn, so that nobody waits for room."""
    try:
        while os.read(master, 65536):
            pass
    except OSError:  # EIO: the program has ended
        os.close(master)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _reading(disk: str, blocks: int) -> list[str]:
    """Direct reads of the first block, over and over."""
    job = ["--rw=randread", "--bs=4k", "--direct=1", "--size=4k", "--rate_iops=200"]
    amount = ["--io_size=4k"] if blocks == 1 else ["--time_based", "--runtime=600"]
    return [
        "fio",
        "--thread",
        "--name=reads",
        f"--filename=/dev/{disk}",
        *job,
        *amount,
        "--output=/dev/null",
    ]


if __name__ == "__main__":
    main()
