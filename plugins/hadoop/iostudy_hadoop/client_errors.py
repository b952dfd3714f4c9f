"""Explanations of the errors that Hadoop clients print (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NOISE = re.compile(
    r"\d{2,4}[-/]\d{2}[-/]\d{2} .* (TRACE|DEBUG|INFO|WARN)\b"  # log4j, of Hadoop 2 and 3
    r"|\s+at |\s*\.\.\. \d+ more|SLF4J:|log4j:|WARNING:"
)
_USAGE = re.compile(r"Usage: ")
_MAX_CHARACTERS = 300


@dataclass(frozen=True)
class ErrorExplanation:
    """The observation and the remedy of an error."""

    found: str
    remedy: str


@dataclass(frozen=True)
class _Known:
    pattern: re.Pattern[str]
    means: str
    remedy: str


def _known(pattern: str, means: str, remedy: str) -> _Known:
    return _Known(re.compile(pattern), means, remedy)


_TICKET = "get a ticket with `kinit`, as the user who may use the cluster; `klist` shows it"
_ADDRESS = (
    "see whether the cluster runs, and whether the site files, or the URI, name its hosts and the "
    "ports for RPC"
)

# The first that is found counts: an error often names its cause behind a more general one.
_COMPLAINTS = (
    _known(
        r"SIMPLE authentication is not enabled",
        "the cluster is secured with Kerberos, and the site files here do not say so",
        "use the cluster's own site files (hadoop.security.authentication is kerberos there)",
    ),
    _known(
        r"Cannot locate default realm|Can't get Kerberos realm",
        "Kerberos has no realm on this machine",
        "install the krb5.conf of the cluster's realm as /etc/krb5.conf",
    ),
    _known(
        r"Server asks us to fall back to SIMPLE auth",
        "the site files here want Kerberos, and the cluster does not use it",
        "use the site files of this very cluster",
    ),
    _known(
        r"Failed to specify server's Kerberos principal name",
        "the site files here do not name the NameNode's principal",
        "use the cluster's own hdfs-site.xml (dfs.namenode.kerberos.principal)",
    ),
    _known(
        r"Clock skew too great",
        "the clock of this machine differs from that of the Kerberos server",
        "set the clock, as by chrony",
    ),
    _known(
        r"Client cannot authenticate via|Failed to find any Kerberos tgt"
        r"|No valid credentials provided|GSS initiate failed",
        "no valid Kerberos ticket",
        _TICKET,
    ),
    _known(
        r"is in safe ?mode|SafeModeException",
        "the NameNode is in safe mode, in which nothing can be written",
        "wait until it has left it (`hdfs dfsadmin -safemode get` shows it); if it does not, see "
        "whether all DataNodes run and have room",
    ),
    _known(
        r"Permission denied: user=|AccessControlException: Permission denied",
        "HDFS does not permit it",
        "name a folder in HDFS that this user may write to, or have one made: "
        "`hdfs dfs -mkdir` and `hdfs dfs -chown`",
    ),
    _known(
        r"The (NameSpace|DiskSpace) quota|QuotaExceededException|[Qq]uota .* is exceeded",
        "a quota of HDFS is used up",
        "free some of it, or have it raised: `hdfs dfs -count -q` shows it",
    ),
    _known(
        r"Operation category \w+ is not supported in state standby",
        "that NameNode is on standby",
        "name the nameservice (dfs.nameservices) instead of one of its NameNodes",
    ),
    _known(
        r"Wrong FS: ",
        "the path is of another file system than the one that was opened",
        "let the target's URI and fs.defaultFS name the same cluster in the same way",
    ),
    _known(r"UnknownHostException|Name or service not known", "there is no such host", _ADDRESS),
    _known(r"Connection refused", "no server listens at that address", _ADDRESS),
    _known(
        r"No route to host|Network is unreachable",
        "no way through the network to that host",
        _ADDRESS,
    ),
    _known(
        r"exceeds maximum data length|Protocol message .*invalid|is not an HDFS"
        r"|InvalidProtocolBufferException|EOFException",
        "what listens at that address is no RPC port of Hadoop's",
        _ADDRESS,
    ),
    _known(
        r"SocketTimeoutException|ConnectTimeoutException|millis timeout while waiting",
        "no answer in time",
        "see the daemon's log, and whether its process is stopped or its machine overloaded",
    ),
    _known(
        r"No FileSystem for scheme|Incomplete HDFS URI",
        "that is no URI of a cluster that the site files know",
        "write hdfs://NAMENODE:PORT/FOLDER, or hdfs:///FOLDER for the default cluster",
    ),
    _known(
        r"No space left on device|could only be (written|replicated) to \d+",
        "no DataNode has taken the data: their disks may be full",
        "see `hdfs dfsadmin -report`, and make room",
    ),
    _known(r"No such file or directory|FileNotFoundException", "it is not there", "create it"),
    _known(r"File exists", "it is there already", "name another one, or remove it"),
    _known(
        r"Could not find or load main class|NoClassDefFoundError|ClassNotFoundException",
        "Hadoop's jars are not whole",
        "see whether HADOOP_HOME names a whole installation, or leave it unset",
    ),
    _known(
        r"OutOfMemoryError|Cannot allocate memory|insufficient memory",
        "Java has not got the memory that it needs",
        "free some memory on this machine",
    ),
)


def explain_client_error(stderr: str) -> ErrorExplanation:
    """Explain an error from what a Hadoop client printed to stderr.

    For an unknown error it quotes the last lines, without log messages, stack traces and usage.
    """
    lines = _complaints(stderr)
    for complaint in _COMPLAINTS:
        for line in lines:
            if complaint.pattern.search(line):
                return ErrorExplanation(f"{complaint.means} ({_short(line)})", complaint.remedy)
    return ErrorExplanation(
        _short(" / ".join(lines[-3:])) or "it failed without a word",
        "see the log of the NameNode, and what `hdfs dfs -ls` says with the same site files",
    )


def _complaints(stderr: str) -> list[str]:
    """Return the lines that may name the cause."""
    lines = []
    for line in stderr.splitlines():
        if _USAGE.match(line):
            break
        if line.strip() and not _NOISE.match(line):
            lines.append(line.partition("; For more details see:")[0].strip())
    return lines


def _short(line: str) -> str:
    return line if len(line) <= _MAX_CHARACTERS else line[: _MAX_CHARACTERS - 1] + "…"
