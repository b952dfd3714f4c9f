"""Properties that a study may not set, with the reasons (pure).

A rule covers a whole family. Address properties of a NameNode in a name service end with the names
of both (``dfs.namenode.rpc-address.ns.nn1``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class _Rule:
    names: tuple[str, ...]
    reason: str

    def holds(self, name: str) -> bool:
        return any(re.fullmatch(pattern, name) for pattern in self.names)


_FREE = frozenset({"dfs.domain.socket.path", "dfs.namenode.fs-limits.max-blocks-per-file"})
"""Exceptions with path-like names: the socket of short-circuit reads, and a limit."""

_RULES = (
    _Rule(
        (
            r"fs\.defaultFS",
            r"fs\.default\.name",
            r"mapreduce\.framework\.name",
            r"dfs\.(internal\.)?nameservices?(\.id)?",
            r"(dfs|yarn\.resourcemanager)\.ha\..+",
        ),
        "it says which cluster is meant; the key `target` and the section `hadoop` say that",
    ),
    _Rule(
        (
            r"yarn\.nodemanager\.env-whitelist",
            r"yarn\.nodemanager\.aux-services(\..+)?",
            r"(yarn|mapreduce)\.application\.classpath",
            r"mapreduce\.job\.tags",
        ),
        "iostudy itself gives it, to start what belongs to a study and to find it again",
    ),
    _Rule(
        (
            r"mapreduce\.job\.(maps|reduces)",
            r"mapreduce\.terasort\.output\.replication",
            r"mapreduce\.client\.progressmonitor\.pollinterval",
        ),
        "the workloads themselves give it; see their options",
    ),
    _Rule(
        (
            r"(hadoop\.)?security\..+",
            r"hadoop\.(proxyuser|http\.authentication|rpc\.protection)(\..+)?",
            r"(.+\.)?(ssl|https|kerberos|spnego)([.-].+)?",
            r".+[.-](acls?|keytab|principal|password|secret|credential|tokens?)([.-].+)?",
            r"dfs\.(encrypt|permissions|data\.transfer\.protection)(\..+)?",
        ),
        "it concerns security, which a study leaves as it is",
    ),
    _Rule(
        (r".+[.-](address|hostname|host|hosts|bind-host|port)(\..+)?",),
        "it is an address; iostudy chooses those of a cluster that it starts, and uses those of "
        "one that is there",
    ),
    _Rule(
        (r".+[.-](dirs?|path|file)",),
        "it is a place for files; `data_dirs` and `name_dirs` of the section `hadoop` are given, "
        "and all others are iostudy's choice",
    ),
)


def explain_reserved(name: str) -> str:
    """Return why a study may not set the property; empty if it may."""
    if name in _FREE:
        return ""
    return next((rule.reason for rule in _RULES if rule.holds(name)), "")
