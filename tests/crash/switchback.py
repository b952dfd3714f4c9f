"""Kill a switchback study at random moments, and let another one resume it.

Runs in a process of its own (``python -m tests.crash.switchback``), which forks a victim for every
moment, as `tests.crash.killer` does.
"""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from iostudy.analysis.switchback.window_plan import HALVES, WindowPlan
from iostudy.execution.session import prepare_session
from iostudy.execution.switchback import blocks, runner
from iostudy.host import mounts
from iostudy.host.files import read_attribute
from iostudy.ledger import studies
from iostudy.ledger.rows import WindowRow
from iostudy.ledger.store import FILE_NAME, Ledger
from iostudy.ledger.windows import WindowRecord
from iostudy.node.conditions import Conditions
from iostudy.node.local import LocalNode
from iostudy.settings.transaction.state import state_directory
from iostudy.study.parser import parse
from tests.crash.killer import fork, rescue

TEXT = """
question: Which scheduler?
target: {loopback: {size: 32MiB}}
factors:
  block.scheduler: [none, mq-deadline]
  block.nomerges: ["0", "2"]
workloads:
  - io: {operation: read, order: random, record_size: 4KiB, size: 4MiB, direct: true, duration: 1s}
decide: {margin: 1%, mode: switchback}
seed: 7
"""
WINDOW_SECONDS, WASHOUT_SECONDS, PAIRS, BLOCKS = 0.02, 0.01, 1, 20
CONFIGURATIONS = 4
LONGEST_SECONDS = 6.0
AT_THE_END = SimpleNamespace(boundaries_of=lambda _: SimpleNamespace(looks=(BLOCKS,)))
"""A rule with a single analysis, so that a study has all its blocks."""


PLAN = WindowPlan(WINDOW_SECONDS, WASHOUT_SECONDS, pair_seconds=0.4, pairs=PAIRS)
"""Fixed windows: how noisy this machine is must not matter."""


def run(folder: Path) -> None:
    """Run the study in the folder from where it stopped."""
    study = parse(TEXT, where="study.yaml", name="study")
    resume = (folder / FILE_NAME).exists()
    session = prepare_session(study, folder, root=True, resume=resume)
    with (
        patch.object(blocks, "_WARM_UP_SECONDS", 0.0),
        patch.object(runner, "plan_windows", lambda *_: PLAN),
        patch.object(runner, "list_unsettled", lambda *_: ()),
        patch.object(studies, "count_blocks", lambda _: BLOCKS),
        patch.object(blocks, "decision_rule", lambda _: AT_THE_END),
        LocalNode(Conditions(study.target, study.factors), folder) as node,
    ):
        session.execute(node, seed=None, listeners=())


def read_windows(folder: Path) -> tuple[WindowRow, ...]:
    """Return the recorded windows; none without a ledger."""
    if not (folder / FILE_NAME).exists():
        return ()
    ledger = Ledger.open(folder, read_only=True)
    try:
        return WindowRecord(ledger).windows()
    finally:
        ledger.close()


def require_restored(folder: Path) -> None:
    """Nothing of the study is left on the host."""
    own = str(folder)
    backing = [read_attribute(p) for p in Path("/sys/block").glob("loop*/loop/backing_file")]
    assert not [text for text in backing if (text or "").startswith(own)]
    assert not [m for m in mounts.read_mounts() if str(m.point).startswith(own)]
    assert not list(state_directory().glob("*.*"))


def main() -> None:
    """Kill, rescue and check, moment after moment; then finish the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--moments", type=int, default=10)
    arguments = parser.parse_args()
    folder, draw = arguments.folder, random.Random(3)
    parse(TEXT, where="study.yaml", name="study")  # imports, once for all victims
    before: tuple[WindowRow, ...] = ()
    recorded = 0
    for number in range(arguments.moments):
        out = folder / str(number // 10)
        out.mkdir(exist_ok=True)
        before = before if number % 10 else ()
        fork(lambda out=out: run(out), kill_after_seconds=draw.uniform(0, LONGEST_SECONDS))
        assert fork(rescue)
        require_restored(out)
        after = read_windows(out)
        assert after[: len(before)] == before, "a finished block is lost"
        assert are_complete(after), "half a block is recorded"
        recorded, before = recorded + len(after) - len(before), after
    assert fork(lambda: run(out))
    assert len(by_block(read_windows(out))) == BLOCKS
    print(arguments.moments, recorded)  # noqa: T201


def are_complete(windows: tuple[WindowRow, ...]) -> bool:
    """Return whether every block has all its half windows."""
    return all(len(own) % (4 * HALVES * PAIRS) == 0 for own in by_block(windows).values())


def by_block(windows: tuple[WindowRow, ...]) -> dict[int, list[WindowRow]]:
    """Return the windows of every block."""
    found: dict[int, list[WindowRow]] = {}
    for row in windows:
        found.setdefault(row.block, []).append(row)
    return found


if __name__ == "__main__":
    os.umask(0o077)
    main()
