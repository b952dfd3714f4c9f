"""Fake cluster without daemons, for tests: it records requests and fails on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostudy.errors import ClusterError
from iostudy_hadoop.client import Client
from iostudy_hadoop.spec import DEFAULT_VERSION, Properties

_HARMLESS = Path("/bin/true")


def _alive() -> None:
    return


@dataclass
class FakeCluster:
    """A cluster whose programs succeed without effect and whose daemons accept every property.

    ``scratch`` is the working folder of its clients, and ``own`` the properties of the cluster
    itself. ``lost`` maps the number of a `verify`, from 0, to the error it raises. ``refuses``
    maps a property and its value to the error of a failed start. ``keeps`` are properties that
    never change. ``log`` records all requests in order.
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
        """Log the properties and a restart; raise the configured error."""
        listed = ", ".join(f"{name}={value}" for name, value in sorted(properties.items()))
        self.log.append(" ".join(filter(None, ("restart" if restart else "configure", listed))))
        for each in properties.items():
            if each in self.refuses:
                raise self.refuses[each]
        self._properties = {**self.own, **properties, **self.keeps}
        return self._client()

    def read_back(self, names: tuple[str, ...]) -> Properties:
        """Return the latest or the kept value of each property that has one."""
        return {name: self._properties[name] for name in names if name in self._properties}

    def settle(self) -> None:
        """Log it."""
        self.log.append("settle")

    def verify(self) -> None:
        """Log it, and raise the configured error."""
        number, self._verified = self._verified, self._verified + 1
        self.log.append("verify")
        if number in self.lost:
            raise self.lost[number]

    def data_dirs(self) -> tuple[Path, ...]:
        """Return the configured directories."""
        return self.dirs

    def pids(self) -> tuple[int, ...]:
        """As `iostudy_hadoop.protocol.Cluster`: none are known."""
        return ()

    def facts(self) -> Mapping[str, Any]:
        """Return a version, and that the cluster is fake."""
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
