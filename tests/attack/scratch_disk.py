"""A link to a scratch device that leads to another one after the user has confirmed it."""

from __future__ import annotations

import hashlib
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import attacker
from tests.attack.campaign import AttackCount, attempts
from tests.fixtures_loop import MIB, loop_disk
from tests.forked import start_forked

_MOST = 1000
_RUN_SECONDS = 120.0
_SIZE = 32 * MIB
_CONFIRMED = re.compile(r"All data on (loop\d+):")
_PROMPT = "to continue"
_STUDY = """\
question: Does the record size matter?
target: {{scratch: {{device: {device}}}}}
factors:
  workload.record_size: [1MiB, 64KiB]
workloads:
  - io: {{operation: write, size: 4MiB, sync: fsync}}
decide: {{margin: 5%, risk: 5%, blocks: [5, 5]}}
validity: {{foreign_io: 100%, attempts: 10}}
"""


@dataclass(frozen=True)
class DeviceScene:
    """A link of another user's, and the two devices that it can lead to."""

    base: Path
    link: Path
    devices: tuple[Path, Path]

    def lead_to(self, device: Path) -> None:
        """Repoint the link in one step."""
        new = self.link.with_suffix(".new")
        new.symlink_to(device)
        new.rename(self.link)


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Both attacks in turn. ``seed`` is not needed: the kernel decides who is first."""
    del seed
    waits = AttackCount("scratch disk: the link is repointed while the prompt waits")
    races = AttackCount("scratch disk: the link is repointed all the time")
    for number in attempts(seconds, _MOST):
        if number % 2:
            races.record(attempt_race())
        else:
            waits.record(attempt_prompt())
    return [waits, races]


def attempt_prompt() -> str:
    """The link leads elsewhere before the user has typed its name; what was destroyed."""
    with _scene() as scene:
        return _judged(scene, ["--out", "out"], lambda: scene.lead_to(scene.devices[1]))


def attempt_race() -> str:
    """The link leads to one and the other in turn; what was destroyed that was not confirmed."""
    turn = [0]

    def flip() -> None:
        turn[0] ^= 1
        scene.lead_to(scene.devices[turn[0]])
        time.sleep(0.0005 * (turn[0] + 1))

    with _scene() as scene, attacker.attacking(flip):
        return _judged(scene, ["--out", "out", "--yes"], lambda: None)


def _judged(scene: DeviceScene, options: list[str], on_prompt: Callable[[], object]) -> str:
    before = {device.name: _digest(device) for device in scene.devices}
    output = _run(scene, options, on_prompt)
    confirmed = _CONFIRMED.findall(output)[:1]
    changed = [name for name, digest in before.items() if digest != _digest(Path("/dev") / name)]
    wrong = sorted(set(changed) - set(confirmed))
    return f"{', '.join(wrong)} was destroyed, and {confirmed} was confirmed" if wrong else ""


@contextmanager
def _scene() -> Iterator[DeviceScene]:
    with (
        tempfile.TemporaryDirectory(prefix="iostudy-attack-") as name,
        loop_disk(_SIZE) as one,
        loop_disk(_SIZE) as other,
    ):
        base = Path(name)
        base.chmod(0o755)
        links = base / "links"
        links.mkdir()
        os.chown(links, attacker.UID, attacker.UID)
        scene = DeviceScene(base, links / "disk", (Path("/dev") / one, Path("/dev") / other))
        for device in scene.devices:
            device.write_bytes(os.urandom(MIB))
        scene.lead_to(scene.devices[0])
        os.chown(scene.link, attacker.UID, attacker.UID, follow_symlinks=False)
        (base / "study.yaml").write_text(_STUDY.format(device=scene.link))
        yield scene


def _run(scene: DeviceScene, options: list[str], on_prompt: Callable[[], object]) -> str:
    """Run the study on a terminal and type the device's name at the prompt; return its output."""
    ours, its = pty.openpty()
    variables = {**os.environ, "IOSTUDY_STATE_DIR": str(scene.base / "state")}
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), its)
    command = ["run", "study.yaml", *options]
    running = start_forked(command, scene.base, variables, start_new_session=True, **streams)
    os.close(its)
    try:
        return _talk(running, ours, str(scene.link), on_prompt)
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait()
        os.close(ours)


def _talk(
    running: subprocess.Popen[bytes], terminal: int, answer: str, on_prompt: Callable[[], object]
) -> str:
    output, answered, deadline = "", False, time.monotonic() + _RUN_SECONDS
    while running.poll() is None and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                output += os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                break
        if not answered and _PROMPT in output:
            on_prompt()
            os.write(terminal, f"{answer}\n".encode())
            answered = True
    return output


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read(_SIZE)).hexdigest()
