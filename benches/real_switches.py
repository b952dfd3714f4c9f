"""``iostudy`` whose switches write equal levels too, for A/A studies.

    python -m benches.real_switches run STUDY ...

A level that is in force already is otherwise not written. Here every switch goes through the
original values of the attributes, which the journal has, and from there to its level.
"""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

from iostudy.cli.main import main as run_iostudy
from iostudy.settings.switching import SwitchedAttributes

_switch = SwitchedAttributes.switch


def switch_through_originals(change: SwitchedAttributes, level: int) -> None:
    """Write the originals, then the level; a level without values is that of the originals."""
    _switch(replace(change, levels=(*change.levels, {})), len(change.levels))
    _switch(change, level)


def main() -> None:
    """Run the command line with these switches."""
    with mock.patch.object(SwitchedAttributes, "switch", switch_through_originals):
        run_iostudy()


if __name__ == "__main__":
    main()
