"""An existing Hadoop cluster, of which a study uses only a folder of its own in HDFS."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from iostudy import own_folder, safe_path
from iostudy.errors import ClusterError, UsageError
from iostudy.line_handler import LineHandler, ignore_line
from iostudy.safe_path import ROOT_UID
from iostudy_hadoop import jmx
from iostudy_hadoop.client import Client
from iostudy_hadoop.conf import folder
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.conf.heaps import CLIENT_HEAP, HEAPS
from iostudy_hadoop.conf.variables import resolve_variables
from iostudy_hadoop.existing import overview, reachability, resourcemanagers
from iostudy_hadoop.existing.namenodes import Hdfs, locate_hdfs
from iostudy_hadoop.namespace import PROPERTY, Address, Namespace, enter
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.software import artifacts
from iostudy_hadoop.software import java as java_
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java
from iostudy_hadoop.spec import DEFAULT_VERSION, Properties

CONF_DIR = "HADOOP_CONF_DIR"

_RELEASED = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_TAGS = "mapreduce.job.tags"
_STAGING = "yarn.app.mapreduce.am.staging-dir"
_DEFAULT_STAGING = "/tmp/hadoop-yarn/staging"
_HISTORY = "mapreduce.jobhistory.intermediate-done-dir"
_DEFAULT_REPLICATION = "3"
_DELETED_WITHIN_SECONDS = 60.0
_HEARTBEAT_SECONDS = 3.0
"""Default interval at which DataNodes fetch deletions (dfs.heartbeat.interval)."""
_LOOK_EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Access:
    """Everything that access to a cluster from this machine requires.

    ``conf`` is the user's folder of site files and ``configuration`` its content. ``web`` is
    the HTTP address of the active NameNode, None without an answer. ``namespace`` is that of a
    cluster which iostudy has started on this machine.
    """

    conf: Path
    configuration: HadoopConfiguration
    hdfs: Hdfs
    web: Address | None
    java: Java
    java_options: tuple[str, ...]
    distribution: Distribution
    namespace: Namespace | None = None

    @property
    def rpc(self) -> tuple[str, ...]:
        """Return the addresses of the NameNodes, any of which may be active."""
        return tuple(namenode.rpc for namenode in self.hdfs.namenodes)

    @property
    def classpath(self) -> str:
        """Return the class path; the folder of site files comes first, as in Hadoop's scripts."""
        return f"{self.conf}:{self.distribution.classpath}"


def find(
    uri: str, environ: Mapping[str, str] = os.environ, on_progress: LineHandler = ignore_line
) -> Access:
    """Return the access to the cluster of that URI, from the site files in HADOOP_CONF_DIR.

    UsageError if these are missing or do not match. ClusterError if the cluster does not answer
    or requires a Kerberos ticket that is missing. Both come within seconds, before a JVM
    starts.
    """
    conf = _conf(environ)
    configuration = HadoopConfiguration.read(conf)
    properties = resolve_variables(configuration.effective(), environ)
    hdfs = locate_hdfs(uri, properties, str(conf))
    namespace = find_namespace(hdfs, properties)
    _require_reachable(hdfs, properties, namespace)
    if is_kerberized(properties):
        reachability.require_ticket(environ)
    web = overview.find_active(_list_webs(hdfs, namespace))
    distribution = _distribution(web, environ, on_progress)
    java = java_.find_java(distribution.version, environ)
    options = (*java.options, *_kerberos_options(environ))
    return Access(conf, configuration, hdfs, web, java, options, distribution, namespace)


def find_namespace(hdfs: Hdfs, properties: Properties) -> Namespace | None:
    """Return the namespace that site files name, if the folder is on their default cluster."""
    default = urlsplit(properties.get("fs.defaultFS", "")).netloc
    is_default = urlsplit(hdfs.uri).netloc == default
    return Namespace.parse(properties.get(PROPERTY, "")) if is_default else None


def is_kerberized(properties: Properties) -> bool:
    """Whether the cluster requires a Kerberos ticket."""
    return properties.get("hadoop.security.authentication", "simple").lower() == "kerberos"


@dataclass
class ExistingCluster:
    """The protocol's Cluster for a cluster that iostudy neither starts nor stops.

    ``home`` is a local folder for the jobs' site files. ``base`` has the properties that all
    configurations of the study share. `iostudy_hadoop.hdfs_folder` creates and
    removes the HDFS folder.
    """

    access: Access
    home: Path
    base: Properties = field(default_factory=dict)
    identity: str = field(default_factory=own_folder.new_identity)
    _properties: Properties = field(default_factory=dict)
    _datanodes: frozenset[str] = frozenset()

    @property
    def folder(self) -> str:
        """Return the URI of the study's folder, below the user's."""
        return f"{self.access.hdfs.uri}/{own_folder.WORK_PREFIX}{self.identity}"

    @property
    def tag(self) -> str:
        """Return the YARN tag of the study's jobs."""
        return f"iostudy-{self.identity}"

    def runs_on_yarn(self) -> bool:
        """Whether jobs run in YARN, according to the cluster's site files."""
        return _runs_on_yarn(self.access.configuration.effective())

    def shell(self) -> Shell:
        """Return Hadoop's programs with the cluster's properties; writes their conf folder."""
        conf = self.home / "conf" / "shell"
        folder.write(conf, self.access.configuration)
        access = self.access
        return Shell(
            java=access.java.path,
            java_options=access.java_options,
            classpath=access.classpath,
            conf=conf,
            entry=enter(access.namespace),
        )

    def configured(self, properties: Properties, *, restart: bool) -> Client:
        """Write the site files of a trial's jobs; UsageError for properties of daemons.

        ClusterError if the cluster is in safe mode or does not answer.
        """
        _refuse_daemons(properties, restart=restart)
        merged = {**self.base, **properties}
        self._require_serving()
        self._properties = merged
        configuration = self.access.configuration.with_properties(self._job_properties(merged))
        conf = self.home / "conf" / "jobs"
        folder.write(conf, configuration)
        return self._client(conf, resolve_variables(configuration.effective(), os.environ))

    def read_back(self, names: tuple[str, ...]) -> Properties:
        """Return the values in the jobs' site files, else those of the NameNode."""
        jobs = resolve_variables(
            HadoopConfiguration.read(self.home / "conf" / "jobs").effective(), os.environ
        )
        # It is no property, but stands on the command line of each program.
        heap = {CLIENT_HEAP: self._properties.get(CLIENT_HEAP)}
        values = {name: {**jobs, **heap}.get(name) for name in names}
        web = self._find_web()
        if web is not None:
            for name in names:
                values[name] = values[name] or jmx.read_property(web, name)
        return {name: value for name, value in values.items() if value is not None}

    def settle(self) -> None:
        """Wait at most a minute until the DataNodes have received all deletions.

        Whether they have carried these out is unknown here, and deletions of other users
        count too. Without HTTP access to the NameNode there is no wait.
        """
        until = time.monotonic() + _DELETED_WITHIN_SECONDS
        while state := self._read_overview():
            if not state.pending_deletions or time.monotonic() >= until:
                time.sleep(_HEARTBEAT_SECONDS)
                return
            time.sleep(_LOOK_EVERY_SECONDS)

    def verify(self) -> None:
        """ClusterError if no NameNode answers, or if it has lost a DataNode."""
        self._require_reachable()
        state = self._read_overview()
        lost = self._datanodes - state.datanodes if state else frozenset[str]()
        if lost:
            raise ClusterError(
                "the same DataNodes at the end of a trial as at its beginning",
                found=f"the NameNode has lost {', '.join(sorted(lost))}",
                where=self.access.hdfs.uri,
                remedy="see the log of that DataNode; the trial does not count",
            )

    def data_dirs(self) -> tuple[Path, ...]:
        """Return nothing: the data lie on other machines, or at unknown places on this one."""
        return ()

    def pids(self) -> tuple[int, ...]:
        """As `iostudy_hadoop.protocol.Cluster`: none are known."""
        return ()

    def facts(self) -> Mapping[str, Any]:
        """Return the known facts about the cluster and about the client."""
        state = self._read_overview()
        effective = self.access.configuration.effective()
        return {
            "description": f"the cluster of {self.access.hdfs.uri}",
            "conf_dir": str(self.access.conf),
            "namenodes": list(self.access.rpc),
            "web": str(self.access.web) if self.access.web else None,
            "version": state.version if state else None,
            "datanodes": sorted(state.datanodes) if state else None,
            "kerberos": is_kerberized(effective),
            "hadoop": {
                "version": self.access.distribution.version,
                "source": self.access.distribution.source,
            },
            "java": {"version": self.access.java.version, "path": str(self.access.java.path)},
            "properties": effective,
        }

    def _require_reachable(self) -> None:
        properties = resolve_variables(self.access.configuration.effective(), os.environ)
        _require_reachable(self.access.hdfs, properties, self.access.namespace)

    def _require_serving(self) -> None:
        self._require_reachable()
        state = self._read_overview()
        if state is None:
            return
        self._datanodes = state.datanodes
        if state.safe_mode:
            raise ClusterError(
                "a cluster that can be written to",
                found=f"the NameNode is in safe mode: {state.safe_mode}",
                where=self.access.hdfs.uri,
                remedy="wait until it has left it; `hdfs dfsadmin -safemode get` shows it",
            )

    def _read_overview(self) -> overview.Overview | None:
        """Return the state by the active NameNode, None if none answered at the beginning.

        ClusterError if none answers any longer.
        """
        web = self._find_web()
        return None if web is None else overview.read_overview(web)

    def _find_web(self) -> Address | None:
        """Return the HTTP address of the active NameNode, which a failover may have changed."""
        before = self.access.web
        if before is not None:
            webs = dict.fromkeys((before, *_list_webs(self.access.hdfs, self.access.namespace)))
            self.access = replace(self.access, web=overview.find_active(webs) or before)
        return self.access.web

    def _job_properties(self, properties: Properties) -> Properties:
        """Return the properties of a trial's jobs, with their files in the study's folders."""
        effective = self.access.configuration.effective()
        tags = ",".join(filter(None, (effective.get(_TAGS), self.tag)))
        of_jobs = {name: value for name, value in properties.items() if name not in HEAPS}
        if _runs_on_yarn(effective | of_jobs):
            of_jobs |= self._staging(resolve_variables(effective, os.environ))
        else:
            of_jobs |= {
                # The local runner stages on the local file system, whatever the default one is.
                "mapreduce.jobtracker.staging.root.dir": str(self.home / "tmp" / "staging"),
                "mapreduce.cluster.local.dir": str(self.home / "tmp" / "local"),
            }
        return {**of_jobs, _TAGS: tags}

    def _staging(self, site: Properties) -> Properties:
        """Return the properties that move YARN's staging files into the study's folder.

        A killed job leaves these files there. The job history stays where its server reads
        it.
        """
        if self.access.configuration.final().keys() & {_STAGING, _HISTORY}:
            return {}
        before = site.get(_STAGING, _DEFAULT_STAGING)
        history = site.get(_HISTORY, f"{before}/history/done_intermediate")
        return {_STAGING: f"{self.folder}/staging", _HISTORY: history}

    def _client(self, conf: Path, jobs: Properties) -> Client:
        temporary = self.home / "tmp"
        scratch = temporary / "jobs"
        scratch.mkdir(parents=True, exist_ok=True)
        heap = self._properties.get(CLIENT_HEAP)
        return Client(
            java=self.access.java.path,
            java_options=(*self.access.java_options, *java_.process_options(heap, temporary)),
            classpath=self.access.classpath,
            conf=conf,
            folder=self.folder,
            scratch=scratch,
            tag=self.tag,
            yarn=_runs_on_yarn(jobs),
            replication=int(jobs.get("dfs.replication", _DEFAULT_REPLICATION)),
            require_alive=reachability.LivenessCheck(self._require_reachable),
            entry=enter(self.access.namespace),
        )


def _list_webs(hdfs: Hdfs, namespace: Namespace | None) -> list[Address]:
    """Return the possible HTTP addresses of all NameNodes."""
    return [Address(web, namespace) for namenode in hdfs.namenodes for web in namenode.webs]


def _require_reachable(hdfs: Hdfs, properties: Properties, namespace: Namespace | None) -> None:
    """ClusterError unless HDFS answers, and YARN if it runs jobs: clients would wait for them."""
    reachability.require_listening([namenode.rpc for namenode in hdfs.namenodes], namespace)
    if _runs_on_yarn(properties):
        addresses = resourcemanagers.addresses(properties)
        reachability.require_listening(addresses, namespace, daemon="ResourceManager")


def _conf(environ: Mapping[str, str]) -> Path:
    """Return the user's folder of site files; UsageError if it is not named or not a folder.

    UnsafePathError if root would take any of it from another user: it has classes, and its files
    name classes, commands and files to write.
    """
    conf = Path(environ.get(CONF_DIR, ""))
    if environ.get(CONF_DIR) and (conf / "core-site.xml").is_file():
        if os.geteuid() == ROOT_UID:
            safe_path.require_safe(conf)
            for entry in conf.rglob("*"):
                if entry.exists():  # the lock of an editor is a link to nothing
                    safe_path.require_safe_program(entry)
        return conf.resolve()
    raise UsageError(
        f"the site files of the cluster, in the folder that {CONF_DIR} names",
        found=f"no core-site.xml in {conf}" if environ.get(CONF_DIR) else "it is not set",
        where=CONF_DIR,
        remedy=f"export {CONF_DIR}=FOLDER, such as /etc/hadoop/conf",
    )


def _distribution(
    web: Address | None, environ: Mapping[str, str], on_progress: LineHandler
) -> Distribution:
    """Return the user's installation, else jars of the cluster's version.

    For a version that was never released, such as a vendor's, it is the default version:
    clients and servers of one major version interoperate.
    """
    if environ.get("HADOOP_HOME"):
        return artifacts.distribution(environ=environ, on_progress=on_progress)
    version = overview.read_overview(web).version if web else DEFAULT_VERSION
    released = version if _RELEASED.fullmatch(version) else DEFAULT_VERSION
    return artifacts.distribution(released, environ=environ, on_progress=on_progress)


def _kerberos_options(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the option for krb5.conf, because Java ignores the variable of kinit and klist."""
    conf = environ.get("KRB5_CONFIG")
    return (f"-Djava.security.krb5.conf={conf}",) if conf else ()


def _runs_on_yarn(properties: Properties) -> bool:
    return properties.get("mapreduce.framework.name", "local") == "yarn"


def _refuse_daemons(properties: Properties, *, restart: bool) -> None:
    """UsageError for daemon properties: iostudy does not restart a cluster that it did not start.

    The client's heap is the only heap that is allowed.
    """
    theirs = sorted(properties.keys() & (set(HEAPS) - {CLIENT_HEAP}))
    if not theirs and not restart:
        return
    named = [f"{name} = {properties[name]}" for name in theirs or sorted(properties)]
    raise UsageError(
        f"daemons with {', '.join(named)}" if named else "daemons that have just been started",
        found="that would take a restart, and iostudy does not restart a cluster that others may "
        "be using",
        where=CONF_DIR,
        remedy="vary it on a cluster that iostudy starts itself: leave the target hdfs:// out; or "
        "change it in the cluster, and run the study once before and once after",
    )
