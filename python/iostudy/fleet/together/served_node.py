"""Node that a server of trials keeps open for the controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from iostudy.errors import IostudyError
from iostudy.node.local import LocalNode
from iostudy.node.protocol import BlockSession, TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.telemetry.samples import Samples

NO_SAMPLES = Samples(np.zeros(2), {})
"""Samples stay on no node: the clocks of nodes have no common time axis."""


class ServedNode:
    """A local node and its current block; the end of ``resources`` closes both."""

    def __init__(
        self, build: Callable[[], AbstractContextManager[LocalNode]], resources: ExitStack
    ) -> None:
        self._build = build
        self._resources = resources
        self._block = ExitStack()
        self._session: BlockSession | None = None
        self._node: LocalNode | None = None

    def open(self) -> str:
        """Open the node; return its own folder in the shared directory."""
        self._node = self._resources.enter_context(self._build())
        self._resources.enter_context(self._block)
        return str(self._node.directory)

    def list_unseen(self, folders: Mapping[str, str]) -> list[str]:
        """The nodes that have their folder somewhere else than in this node's directory."""
        own = self._opened.directory.parent
        return [node for node, folder in folders.items() if not (own / Path(folder).name).is_dir()]

    def offered(self, setting: str, on: Sequence[str]) -> tuple[str, ...]:
        """As `Node` says."""
        return self._opened.offered(setting, on)

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """As `Node` says."""
        return self._opened.preflight(requests, configurations)

    def circumstances(self) -> Mapping[str, Any]:
        """As `Node` says."""
        return self._opened.circumstances()

    def begin_block(self, request: WorkloadRequest, seed: int) -> None:
        """Begin a block."""
        self.end_block()
        self._session = self._block.enter_context(self._opened.block(request, seed))

    def trial(self, configuration: Configuration) -> TrialResult:
        """Run a trial of the block, without its samples."""
        assert self._session is not None
        result = self._session.trial(configuration)
        return replace(result, telemetry=replace(result.telemetry, samples=NO_SAMPLES))

    def end_block(self) -> None:
        """End the block, if there is one."""
        self._session = None
        self._block.close()

    @property
    def _opened(self) -> LocalNode:
        assert self._node is not None
        return self._node
