"""What this host will probably offer, for a study that is only looked at."""

from __future__ import annotations

from pathlib import Path

from iostudy.errors import IostudyError
from iostudy.node.levels import Levels
from iostudy.settings.transaction import Transaction
from iostudy.study.model import DirectoryTarget, LoopbackTarget, ScratchTarget, Study, Target

_ANY_LOOP_DEVICE = Path("/dev/loop0")


def with_expected_levels(study: Study) -> Study:
    """Fill in the levels that wait for the host's; as it is where they cannot be told yet.

    Loop devices are alike, so any of them tells what one that is still to be made will offer.
    """
    levels = Levels(Transaction(), _place(study.target))
    try:
        return study.with_offered({f.name: levels.offered(f.name) for f in study.awaiting_offer()})
    except IostudyError:
        return study


def _place(target: Target) -> Path:
    match target:
        case LoopbackTarget():
            return _ANY_LOOP_DEVICE
        case ScratchTarget(device):
            return device
        case DirectoryTarget(path):
            return path or Path()
