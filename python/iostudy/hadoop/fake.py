"""Fake cluster without daemons, for tests: it records requests and fails on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostudy.errors import ClusterError
from iostudy.hadoop.client import Client
from iostudy.hadoop.spec import DEFAULT_VERSION, Properties

_HARMLESS = Path("/bin/true")


def _alive() -> None:
    return


@dataclass
class FakeCluster:
    """Its programs do nothing, and end well; its daemons have every property that they are given.

    ``scratch`` is where its clients work, ``own`` are the properties of the cluster itself.
    ``lost`` maps the number of a `verify`, from 0 in the order of calls, to the error it raises;
    ``refuses`` maps a property and its value to the error of a cluster that does not start with it;
    ``keeps`` are properties that stay as they are here, whatever is asked. ``log`` keeps what was
    asked, in order.
    """

    scratch: Path
    own: Properties = field(default_factory=dict)
    dirs: tuple[Path, ...] = ()
    lost: Mapping[int, ClusterError] = field(default_factory=dict)
    refuses: Mapping[tuple[str, str], ClusterError] = field(default_factory=dict)
    keeps: Properties = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    _properties: Properties = field(default_factory=dict)
    _verified: int = 0

    def configured(self, properties: Properties, *, restart: bool) -> Client:
        """Log the properties, and a restart; refuse what the script says."""
        listed = ", ".join(f"{name}={value}" for name, value in sorted(properties.items()))
        self.log.append(" ".join(filter(None, ("restart" if restart else "configure", listed))))
        for each in properties.items():
            if each in self.refuses:
                raise self.refuses[each]
        self._properties = {**self.own, **properties, **self.keeps}
        return self._client()

    def read_back(self, names: tuple[str, ...]) -> Properties:
        """What was given last, or is kept; nothing of what was never set."""
        return {name: self._properties[name] for name in names if name in self._properties}

    def settle(self) -> None:
        """Log it."""
        self.log.append("settle")

    def verify(self) -> None:
        """Log it, and raise what the script says."""
        number, self._verified = self._verified, self._verified + 1
        self.log.append("verify")
        if number in self.lost:
            raise self.lost[number]

    def data_dirs(self) -> tuple[Path, ...]:
        """Those that were given."""
        return self.dirs

    def pids(self) -> tuple[int, ...]:
        """As `iostudy.hadoop.protocol.Cluster`: none are known."""
        return ()

    def facts(self) -> Mapping[str, Any]:
        """A version, and that it is none."""
        return {"description": "a fake", "hadoop": {"version": DEFAULT_VERSION}}

    def _client(self) -> Client:
        return Client(
            java=_HARMLESS,
            java_options=(),
            classpath="",
            conf=self.scratch,
            folder="hdfs://fake/iostudy",
            scratch=self.scratch,
            tag="iostudy-fake",
            yarn=False,
            replication=int(self._properties.get("dfs.replication", "1")),
            require_alive=_alive,
        )
