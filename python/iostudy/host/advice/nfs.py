"""Mount options of NFS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from iostudy.host.advice.commands import joined
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.host.mounts import NFS
from iostudy.host.topology import Place

LARGEST_TRANSFER = "1048576"
_SETTING = "mount.options"
_OLD_VERSIONS = ("2", "3", "4.0", "4")
_MAN = "nfs(5)"
_ONLY_TOLD = re.compile(r"(addr|clientaddr|mountaddr|mountport|namlen)=.*|port=0|seclabel")
"""What mountinfo shows of a connection, and mount(8) finds out anew."""


def _soft(facts: Facts) -> Iterator[Sighting]:
    for place, options in _mounted(facts):
        if "soft" in options and "ro" not in options:
            yield _sighting(place, "soft", {"soft": None, "hard": ""})


def _udp(facts: Facts) -> Iterator[Sighting]:
    for place, options in _mounted(facts):
        if options.get("proto", "").startswith("udp"):
            yield _sighting(place, f"proto={options['proto']}", {"proto": "tcp"})


def _no_lock(facts: Facts) -> Iterator[Sighting]:
    for place, options in _mounted(facts):
        if "nolock" in options or options.get("local_lock", "none") != "none":
            found = "nolock" if "nolock" in options else f"local_lock={options['local_lock']}"
            yield _sighting(place, found, {"nolock": None, "lock": "", "local_lock": "none"})


def _small(facts: Facts) -> Iterator[Sighting]:
    for place, options in _mounted(facts):
        sizes = {name: options.get(name, LARGEST_TRANSFER) for name in ("rsize", "wsize")}
        if min(map(int, sizes.values())) < int(LARGEST_TRANSFER):
            yield _sighting(place, _text(sizes), dict.fromkeys(sizes, LARGEST_TRANSFER))


def _sync(facts: Facts) -> Iterator[Sighting]:
    for place, options in _mounted(facts):
        if "sync" in options:
            yield _measured(place, "sync", "async, if no other host must see a write at once")


def _old(facts: Facts) -> Iterator[Sighting]:
    for place, options in _mounted(facts):
        if options.get("vers") in _OLD_VERSIONS:
            advised = "vers=4.2, if the server has it and it is faster here"
            yield _measured(place, f"vers={options['vers']}", advised)


def _mounted(facts: Facts) -> Iterator[tuple[Place, Mapping[str, str]]]:
    for place in facts.topology.apart:
        if place.filesystem in NFS:
            yield place, _options(place.options)


def _sighting(place: Place, found: str, changes: dict[str, str | None]) -> Sighting:
    """What a mount with those options instead would mend; None takes one out.

    NFS does not change them by a remount. All others stay, or security could go with them (sec,
    nosuid), but for what the kernel only tells of the connection.
    """
    point, mount = str(place.mount.point), place.mount
    kept = _options(option for option in place.options if not _ONLY_TOLD.fullmatch(option))
    wanted = _text({name: value for name, value in (kept | changes).items() if value is not None})
    again = ["mount", "-t", place.filesystem, "-o", wanted, mount.source, point]
    return Sighting(
        subject=point,
        found=found,
        advised=_text({name: value for name, value in changes.items() if value is not None}),
        evidence=_evidence(place),
        command=f"{joined(['umount', point])} && {joined(again)}",
    )


def _measured(place: Place, found: str, advised: str) -> Sighting:
    point = str(place.mount.point)
    return Sighting(
        subject=point,
        found=found,
        advised=advised,
        evidence=_evidence(place),
        command=joined(["iostudy", "bench", "dfsio-write", "--target", point]),
    )


def _evidence(place: Place) -> str:
    return f"mountinfo: {','.join(place.options)}"


def _options(options: Iterable[str]) -> dict[str, str]:
    """The options by name; one without a value has an empty one."""
    pairs = (option.partition("=") for option in options)
    return {name: value for name, _, value in pairs}


def _text(options: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" if value else name for name, value in options.items())


RULES = (
    Rule(
        id="nfs-soft",
        title="NFS gives up after a while",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="A soft mount fails requests when the server is slow, which can silently corrupt "
        "data: programs do not expect a write to fail long after it was made.",
        source=f"{_MAN}, soft and hard",
        check=_soft,
    ),
    Rule(
        id="nfs-udp",
        title="NFS over UDP",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="On fast links the identifiers of IP fragments come round within their lifetime, so "
        "that pieces of different requests are put together: silent corruption. Linux 5.6 and "
        "newer refuse it by default.",
        source=f'{_MAN}, "Using NFS over UDP on high-speed links"',
        check=_udp,
    ),
    Rule(
        id="nfs-local-locks",
        title="Locks on NFS are seen by this host alone",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="Another host does not see them. A name node that is to be kept out of a shared "
        "directory by its lock (in_use.lock) is not.",
        source=f"{_MAN}, nolock and local_lock",
        check=_no_lock,
    ),
    Rule(
        id="nfs-sync",
        title="Every write on NFS waits for the server",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="With sync each write(2) is flushed to the server before it returns: other hosts see "
        "it sooner, at a significant cost. A program that needs that for its own files alone "
        "opens them with O_SYNC or calls fsync, as a name node does for its edit log. What it "
        "costs here the command tells, before and after mounting anew.",
        source=f'{_MAN}, "The sync mount option"',
        check=_sync,
    ),
    Rule(
        id="nfs-small-transfers",
        title="NFS moves less than it could in a request",
        certainty=Certainty.RECOMMENDATION,
        setting=_SETTING,
        why="Without rsize and wsize client and server agree on the largest that both can do, at "
        "most 1 MiB. Less means that the mount says so, or that the server does.",
        source=f"{_MAN}, rsize and wsize",
        check=_small,
    ),
    Rule(
        id="nfs-version",
        title="An older version of NFS",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="4.1 brought sessions and parallel access, 4.2 copies on the server; whether they "
        "are faster for this workload is to be measured, with the command before and after "
        "mounting anew. Report R2 left open which version it used.",
        source=f"{_MAN}, nfsvers; RFC 8881; report R2",
        check=_old,
    ),
)
