"""What this host will probably offer and refuse, for a study that is only looked at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import assert_never

from iostudy.errors import IostudyError, TargetError
from iostudy.host import stack
from iostudy.node.levels import Levels
from iostudy.settings import catalog
from iostudy.settings.scratch import LoopbackDisk, ScratchDevice
from iostudy.settings.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.cross_check import with_offered
from iostudy.study.model import (
    DirectoryTarget,
    FactorKind,
    LoopbackTarget,
    ScratchTarget,
    Study,
    Target,
)
