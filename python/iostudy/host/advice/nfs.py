"""Rules for mount options of NFS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation, format_command
from iostudy.host.mounts import NFS
from iostudy.host.topology import MountEntry

LARGEST_TRANSFER = "1048576"
_SETTING = "mount.options"
_OLD_VERSIONS = ("2", "3", "4.0", "4")
_MAN = "nfs(5)"
_SOFT = ("soft", "softerr")
_CONNECTION_DETAIL = re.compile(r"(addr|clientaddr|mountaddr|mountport|namlen)=.*|port=0|seclabel")
"""Connection details in mountinfo, which mount(8) determines again."""


def _soft(facts: Facts) -> Iterator[Observation]:
    for entry, options in _nfs_mounts(facts):
        option = next((name for name in _SOFT if name in options), None)
        if option and "ro" not in options:
            changes: dict[str, str | None] = dict.fromkeys(_SOFT)
            yield _remount_observation(entry, option, changes | {"hard": ""})


def _udp(facts: Facts) -> Iterator[Observation]:
    for entry, options in _nfs_mounts(facts):
        if options.get("proto", "").startswith("udp"):
            yield _remount_observation(entry, f"proto={options['proto']}", {"proto": "tcp"})


def _no_lock(facts: Facts) -> Iterator[Observation]:
    for entry, options in _nfs_mounts(facts):
        if "nolock" in options or options.get("local_lock", "none") != "none":
            option = "nolock" if "nolock" in options else f"local_lock={options['local_lock']}"
            yield _remount_observation(
                entry, option, {"nolock": None, "lock": "", "local_lock": "none"}
            )


def _small(facts: Facts) -> Iterator[Observation]:
    for entry, options in _nfs_mounts(facts):
        sizes = {name: options.get(name, LARGEST_TRANSFER) for name in ("rsize", "wsize")}
        if min(map(int, sizes.values())) < int(LARGEST_TRANSFER):
            advised = f"{_text(dict.fromkeys(sizes, LARGEST_TRANSFER))}, if a benchmark is faster"
            yield _benchmark_observation(entry, _text(sizes), advised)


def _sync(facts: Facts) -> Iterator[Observation]:
    for entry, options in _nfs_mounts(facts):
        if "sync" in options:
            yield _benchmark_observation(
                entry, "sync", "async, unless other hosts must see writes immediately"
            )


def _old(facts: Facts) -> Iterator[Observation]:
    for entry, options in _nfs_mounts(facts):
        if options.get("vers") in _OLD_VERSIONS:
            advised = "vers=4.2, if the server supports it and a benchmark shows an advantage"
            yield _benchmark_observation(entry, f"vers={options['vers']}", advised)


def _nfs_mounts(facts: Facts) -> Iterator[tuple[MountEntry, Mapping[str, str]]]:
    for entry in facts.topology.deviceless_mounts:
        if entry.filesystem in NFS:
            yield entry, _options(entry.options)


def _remount_observation(
    entry: MountEntry, found: str, changes: dict[str, str | None]
) -> Observation:
    """Suggest a new mount with changed options; None removes an option.

    NFS does not change these options at a remount. All others stay, as they may concern security
    (sec, nosuid), except for details of the connection.
    """
    point, mount = str(entry.mount.point), entry.mount
    kept = _options(option for option in entry.options if not _CONNECTION_DETAIL.fullmatch(option))
    wanted = _text({name: value for name, value in (kept | changes).items() if value is not None})
    again = ["mount", "-t", entry.filesystem, "-o", wanted, mount.source, point]
    return Observation(
        subject=point,
        found=found,
        advised=_text({name: value for name, value in changes.items() if value is not None}),
        evidence=_evidence(entry),
        command=f"{format_command(['umount', point])} && {format_command(again)}",
    )


# Unsynced writes would measure the client's cache.
_SYNCED_WRITES = ("-o", "operation=write", "-o", "jobs=4", "-o", "sync=fsync")


def _benchmark_observation(entry: MountEntry, found: str, advised: str) -> Observation:
    point = str(entry.mount.point)
    return Observation(
        subject=point,
        found=found,
        advised=advised,
        evidence=_evidence(entry),
        command=format_command(["iostudy", "bench", "io", *_SYNCED_WRITES, "--target", point]),
    )


def _evidence(entry: MountEntry) -> str:
    return f"mountinfo: {','.join(entry.options)}"


def _options(options: Iterable[str]) -> dict[str, str]:
    """Split the options into names and values; the value may be empty."""
    pairs = (option.partition("=") for option in options)
    return {name: value for name, _, value in pairs}


def _text(options: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" if value else name for name, value in options.items())


RULES = (
    AdviceRule(
        id="nfs-soft",
        title="NFS requests time out (soft mount)",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="A soft mount fails requests when the server is slow, which can silently corrupt "
        "data: programs do not expect a late failure of an earlier write. softerr fails them with "
        "ETIMEDOUT instead of EIO.",
        source=f"{_MAN}, soft, softerr and hard",
        check=_soft,
    ),
    AdviceRule(
        id="nfs-udp",
        title="NFS over UDP",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="On fast links IP fragment identifiers wrap within their lifetime, so fragments of "
        "different requests can be combined: silent corruption. Linux 5.6 and newer refuse "
        "UDP by default.",
        source=f'{_MAN}, "Using NFS over UDP on high-speed links"',
        check=_udp,
    ),
    AdviceRule(
        id="nfs-local-locks",
        title="Locks on NFS are local to this host",
        certainty=Certainty.FACT,
        setting=_SETTING,
        why="Other hosts do not see these locks. The lock of a NameNode (in_use.lock) does not "
        "protect a shared directory then.",
        source=f"{_MAN}, nolock and local_lock",
        check=_no_lock,
    ),
    AdviceRule(
        id="nfs-sync",
        title="Every write on NFS waits for the server",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="With sync each write(2) is flushed to the server before it returns: other hosts see "
        "it sooner, at a significant cost. A program that needs this for its own files opens "
        "them with O_SYNC or calls fsync, as a NameNode does for its edit log. The command "
        "measures the cost, before and after a new mount.",
        source=f'{_MAN}, "The sync mount option"',
        check=_sync,
    ),
    AdviceRule(
        id="nfs-small-transfers",
        title="NFS requests are smaller than possible",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="Without rsize and wsize, client and server negotiate the largest size, at most 1 "
        "MiB. A smaller size comes from the mount options or from the server. Measure whether a "
        "larger one is faster, with the command before and after a new mount.",
        source=f"{_MAN}, rsize and wsize",
        check=_small,
    ),
    AdviceRule(
        id="nfs-version",
        title="An older version of NFS",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="4.1 added sessions and parallel access, 4.2 server-side copies. Measure whether they "
        "are faster for this workload, with the command before and after a new mount. Report "
        "R2 does not state its version.",
        source=f"{_MAN}, nfsvers; RFC 8881; report R2",
        check=_old,
    ),
)
