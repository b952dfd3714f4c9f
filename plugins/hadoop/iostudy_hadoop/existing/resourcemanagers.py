"""ResourceManager addresses from the site files of a cluster (pure).

Source: yarn-default.xml (Apache Hadoop 3.4.2), and the names of ResourceManager High Availability:
yarn.resourcemanager.ha.rm-ids, yarn.resourcemanager.address.ID, yarn.resourcemanager.hostname.ID.
"""

from __future__ import annotations

from iostudy_hadoop.spec import Properties

_PREFIX = "yarn.resourcemanager"
_PORT = 8032


def addresses(properties: Properties) -> tuple[str, ...]:
    """Return the client addresses (host:port).

    With High Availability only the active one listens.
    """
    identities = properties.get(f"{_PREFIX}.ha.rm-ids", "").split(",")
    is_ha = properties.get(f"{_PREFIX}.ha.enabled", "false").strip().lower() == "true"
    suffixes = [f".{identity.strip()}" for identity in identities] if is_ha else [""]
    return tuple(_address(properties, suffix) for suffix in suffixes)


def _address(properties: Properties, suffix: str) -> str:
    # The default is this machine: 0.0.0.0.
    host = properties.get(f"{_PREFIX}.hostname{suffix}", "0.0.0.0")
    address = properties.get(f"{_PREFIX}.address{suffix}", host).strip()
    return address if ":" in address else f"{address}:{_PORT}"
