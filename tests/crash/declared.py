"""Kill a study of declared settings of all three forms at random moments, and rescue the host.

Runs in a process of its own (``python -m tests.crash.declared``), which forks a victim for every
moment, as `tests.crash.killer` does. Each study is resumed until it is complete.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path
from typing import Any

from iostudy.execution.session import prepare_session
from iostudy.host.files import read_attribute
from iostudy.ledger.store import FILE_NAME
from iostudy.node.conditions import Conditions
from iostudy.node.local import LocalNode
from iostudy.settings.transaction.state import state_directory
from iostudy.study.model import Study
from iostudy.study.parser import parse
from tests.crash.killer import fork, rescue

ATTRIBUTE = Path("/sys/kernel/mm/ksm/sleep_millisecs")
TEXT = """
question: Does any of three knobs matter?
target: {target}
settings:
  my.knob: {{read: [{folder}/knob, get], write: [{folder}/knob, set, '{{}}']}}
  my.key: {{file: {folder}/app.conf, key: key, after: [{folder}/knob, reload]}}
  my.file: {{attribute: {attribute}}}
factors:
  my.knob: [16K, 8K]
  my.key: [new, newer]
  my.file: [21, 22]
configurations:
  some: {{my.knob: 16K, my.key: new, my.file: 21}}
  others: {{my.knob: 8K, my.key: newer, my.file: 22}}
workloads:
  - command: {{run: ['true']}}
decide: {{margin: 1%, blocks: [{blocks}, {blocks}]}}
seed: 7
"""
KNOB = """#!/bin/sh
cd {folder}/state || exit
case $1 in
get) cat value ;;
set) numfmt --from=iec "$2" >next.$$ && mv next.$$ value ;;
reload) cp {folder}/app.conf loaded.$$ && mv loaded.$$ loaded ;;
esac
"""
CONFIGURATION = b"# an application\r\nother = 1\nkey\t=  old  # as it was"


def make(folder: Path) -> None:
    """Make the program and the text file, each with a value of its own."""
    (folder / "state").mkdir()
    (folder / "state/value").write_text("131072\n")
    (folder / "state/loaded").write_bytes(CONFIGURATION)
    (folder / "app.conf").write_bytes(CONFIGURATION)
    (folder / "app.conf").chmod(0o640)
    os.setxattr(folder / "app.conf", "user.note", b"kept")
    knob = folder / "knob"
    knob.write_text(KNOB.format(folder=folder))
    knob.chmod(0o755)


def state(folder: Path, attribute: Path) -> dict[str, Any]:
    """Everything that must be as it was; a killed program of the fake may leave a file of its."""
    file = folder / "app.conf"
    return {
        "attribute": read_attribute(attribute),
        "value": (folder / "state/value").read_text(),
        "loaded": (folder / "state/loaded").read_bytes(),
        "file": file.read_bytes(),
        "mode": file.stat().st_mode,
        "note": os.getxattr(file, "user.note"),
        "names": sorted(path.name for path in folder.iterdir()),
        "journals": sorted(str(path) for path in state_directory().glob("*.*")),
    }


def read(folder: Path, out: Path, attribute: Path, blocks: int) -> Study:
    """Return the study with the output folder as its target."""
    text = TEXT.format(folder=folder, target=out, attribute=attribute, blocks=blocks)
    return parse(text, where="study.yaml", name="study")


def run(folder: Path, out: Path, attribute: Path, blocks: int) -> None:
    """Run the study from where it stopped."""
    study = read(folder, out, attribute, blocks)
    session = prepare_session(study, out, root=True, resume=(out / FILE_NAME).exists())
    with LocalNode(Conditions(study.target, study.factors), out) as node:
        session.execute(node, seed=None, listeners=())


def main() -> None:
    """Kill, rescue and check, moment after moment; the number of kills and of hits on stdout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--attribute", type=Path, default=ATTRIBUTE)
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=12, help="of two configurations")
    parser.add_argument("--longest", type=float, default=2.5, help="seconds before a kill")
    arguments = parser.parse_args()
    folder, draw = arguments.folder, random.Random(arguments.start)
    fakes, outputs = folder / "fakes", folder / "out"
    fakes.mkdir()
    make(fakes)
    read(fakes, outputs, arguments.attribute, arguments.blocks)  # imports, once for all victims
    before, hits = state(fakes, arguments.attribute), 0
    for number in range(arguments.moments):
        out = outputs / str(number // 5)
        out.mkdir(parents=True, exist_ok=True)
        fork(
            lambda out=out: run(fakes, out, arguments.attribute, arguments.blocks),
            kill_after_seconds=draw.uniform(0, arguments.longest),
        )
        hits += {**state(fakes, arguments.attribute), "journals": []} != before
        assert fork(rescue)
        after = state(fakes, arguments.attribute)
        assert after == before, f"moment {number}: {before} {after}"
    last = outputs / str((arguments.moments - 1) // 5)
    finished = fork(lambda: run(fakes, last, arguments.attribute, arguments.blocks))
    assert finished, "the study cannot be finished"
    assert state(fakes, arguments.attribute) == before
    sys.stdout.write(f"{arguments.moments} {hits}\n")


if __name__ == "__main__":
    os.umask(0o077)
    main()
