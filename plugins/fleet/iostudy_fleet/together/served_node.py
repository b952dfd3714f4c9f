"""Node that a server of trials keeps open for the controller."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, JsonValue

from iostudy.ledger.studies import FILES
from iostudy.node.local import LocalNode
from iostudy.node.protocol import BlockSession
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.requests import digest_files
from iostudy_fleet.together.trial_messages import NodeError, NodeTrial


class _Target(BaseModel):
    description: str
    devices: list[str]
    identity: list[JsonValue]
    on: dict[str, JsonValue]
    notes: list[str]


class _Circumstances(BaseModel):
    """What iostudy reads of the circumstances of a node; there may be more."""

    host: dict[str, JsonValue]
    versions: dict[str, str | None]
    target: _Target


def _require_circumstances(circumstances: dict[str, JsonValue]) -> dict[str, JsonValue]:
    _Circumstances.model_validate(circumstances)
    return circumstances


Circumstances = Annotated[dict[str, JsonValue], AfterValidator(_require_circumstances)]


class ServedNode:
    """A local node and its current block; the end of ``resources`` closes both.

    Calls name workloads by their labels in the study.
    """

    def __init__(
        self,
        build: Callable[[], AbstractContextManager[LocalNode]],
        study: Study,
        resources: ExitStack,
    ) -> None:
        self._build = build
        self._study = study
        self._workloads = {workload.label: workload for workload in study.workloads}
        self._resources = resources
        self._block = ExitStack()
        self._session: BlockSession | None = None
        self._node: LocalNode | None = None

    def open(self) -> str:
        """Open the node; return its own folder in the shared directory."""
        self._node = self._resources.enter_context(self._build())
        self._resources.enter_context(self._block)
        return str(self._node.directory)

    def list_unseen(self, folders: dict[str, str]) -> list[str]:
        """The nodes that have their folder somewhere else than in this node's directory."""
        parent = self._opened.directory.parent
        return [
            node for node, folder in folders.items() if not (parent / Path(folder).name).is_dir()
        ]

    def offered(self, setting: str, on: tuple[str, ...]) -> tuple[str, ...]:
        """As `Node` says."""
        return self._opened.offered(setting, on)

    def preflight(
        self, workloads: tuple[str, ...], configurations: tuple[Configuration, ...]
    ) -> dict[str, NodeError]:
        """As `Node` says."""
        requests = [self._workloads[label] for label in workloads]
        refused = self._opened.preflight(requests, configurations)
        return {label: NodeError.describe(error) for label, error in refused.items()}

    def circumstances(self) -> Circumstances:
        """As `Node` says, with the files of this node."""
        return {**self._opened.circumstances(), FILES: digest_files(self._study)}

    def begin_block(self, workload: str, seed: int) -> None:
        """Begin a block."""
        self.end_block()
        request = self._workloads[workload]
        self._session = self._block.enter_context(self._opened.block(request, seed))

    def trial(self, configuration: Configuration) -> NodeTrial:
        """Run a trial of the block."""
        assert self._session is not None
        return NodeTrial.of(self._session.trial(configuration))

    def end_block(self) -> None:
        """End the block, if there is one."""
        self._session = None
        self._block.close()

    @property
    def _opened(self) -> LocalNode:
        assert self._node is not None
        return self._node
