"""Checks of the ``hadoop`` section against the rest of the study."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.settings import catalog
from iostudy.settings.definition import Cost, Reach
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.model import Study
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.workloads import catalog as workloads
from iostudy_hadoop.properties.definition import HadoopDefinition, TaskRunner
from iostudy_hadoop.spec import ClusterSpec

KEY_PATH: KeyPath = ("hadoop",)
_REPLICATION = "dfs.replication"
_SHORT_CIRCUIT, _SOCKET = "dfs.client.read.shortcircuit", "dfs.domain.socket.path"
_IDLE = "no workload of this study runs on Hadoop; add one, or leave this out"
_DECIDED = "the workloads give it by options of their own, whatever this is; vary the option"
_RUNNING = (
    "the cluster's daemons read it when they start, and a cluster that is there is not restarted; "
    "vary it on one that the study starts itself (a section `hadoop`, and no target in HDFS)"
)
_TWICE = "it stands among the properties of the section `hadoop` as well; leave it out there"
_NO_DATA = (
    "file systems are made on the target, which holds no data of the cluster; leave data_dirs out"
)
_NOT_OF_DAEMONS = (
    "it would hold for the processes of the client alone, and not for the daemons that do the I/O; "
    "vary it on a cluster that the study starts itself"
)
_KEPT = (
    "an HDFS that the study mounts has a network of its own, which keeps the values from its "
    "start; vary it with a workload of Hadoop such as hadoop.dfsio-read, before which the daemons "
    "start again"
)
_NETWORK, _LOCAL = "sysctl.net.", "local-hdfs"
_ELSEWHERE = (
    "the data are not below the target, where this would be changed; name the place, as "
    "{levels: [...], on: [...]} with the devices or directories that hold them"
)


def _cluster(study: Study) -> ClusterSpec:
    spec = study.services["hadoop"]
    assert isinstance(spec, ClusterSpec)
    return spec


def check_hadoop(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """Note what of a form of the study its cluster cannot have; ``path`` leads to its factors."""
    if path[0] != "without_root":
        _check_section(collector, study)
    _check_factors(collector, path, study)


def _check_section(collector: ProblemCollector, study: Study) -> None:
    """Note where the section `hadoop`, the target and the workloads do not go together."""
    if "hadoop" in collector.source.values:
        _check_spec(collector, study)
    fallback = study.fallback.target if study.fallback else None
    if study.target.cluster_uri or (fallback and fallback.cluster_uri):
        _refuse_native(collector, study)


def _check_factors(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """Note the factors that the study's cluster cannot have, or that would not concern it."""
    for factor in study.factors:
        if factor.kind is not FactorKind.SETTING:
            continue
        definition = catalog.get(factor.name)
        if isinstance(definition, HadoopDefinition):
            for message, value in _against(study, factor, definition):
                collector.add((*path, factor.name), message, found=value)
        elif factor.name.startswith(_NETWORK) and _mounts_own_hdfs(study):
            collector.add((*path, factor.name), _KEPT, found=_LOCAL)
        elif not factor.on:
            message = _misplaced(study, definition.reach)
            if message:
                collector.add((*path, factor.name), message, found=_describe_storage(study))


def _check_spec(collector: ProblemCollector, study: Study) -> None:
    if study.target.cluster_uri:
        message = (
            "the target is in HDFS, so the cluster is there already; leave the section out. A "
            "property that all trials have in common is a factor with one level"
        )
        collector.add(KEY_PATH, message, found=study.target.cluster_uri)
    elif not study.service:
        collector.add(KEY_PATH, _IDLE)
    replicas = _cluster(study).properties.get(_REPLICATION, "1")
    if int(replicas) > _cluster(study).datanodes:
        collector.add((*KEY_PATH, "properties", _REPLICATION), _too_many(study), found=replicas)


def _refuse_native(collector: ProblemCollector, study: Study) -> None:
    for index, request in enumerate(study.workloads):
        if not workloads.get(request.name).service:
            message = (
                "it would not work in HDFS, where the target is, but in the output folder; give it "
                "a study of its own, whose target is a directory or a disk"
            )
            collector.add(("workloads", index), message, found=request.name)


def _against(
    study: Study, factor: Factor, definition: HadoopDefinition
) -> Iterator[tuple[str, str]]:
    """What is wrong with a property as a factor, and its place in the file."""
    jobs = [job for job in map(workloads.get, _names(study)) if job.service]
    if not jobs:
        yield _IDLE, ""
    elif all(definition.key in job.decides for job in jobs):
        yield _DECIDED, ", ".join(job.name for job in jobs)
    if not study.target.cluster_uri:
        yield from _against_own(study, factor, definition)
    elif definition.cost is Cost.RESTART:
        yield _RUNNING, study.describe_target()


def _against_own(
    study: Study, factor: Factor, definition: HadoopDefinition
) -> Iterator[tuple[str, str]]:
    """What a cluster that the study starts has against it."""
    given = _cluster(study).properties
    if definition.key in given:
        yield _TWICE, given[definition.key]
    runner = TaskRunner.YARN if _cluster(study).yarn else TaskRunner.LOCAL
    if definition.runner not in (None, runner):
        wanted = "true" if definition.runner is TaskRunner.YARN else "false"
        yield f"only {definition.runner} heeds it; write hadoop: {{yarn: {wanted}}}", str(runner)
    varied = {level.value for level in factor.levels} - {AS_FOUND}
    if definition.key == _SHORT_CIRCUIT and "true" in varied and _SOCKET not in given:
        yield f"no client starts with it unless {_SOCKET} is given among the properties", ""
    if definition.key == _REPLICATION and any(int(v) > _cluster(study).datanodes for v in varied):
        yield _too_many(study), ", ".join(level.label for level in factor.levels)


def _names(study: Study) -> tuple[str, ...]:
    return tuple(request.name for request in study.workloads)


def _too_many(study: Study) -> str:
    return (
        f"more replicas than DataNodes ({_cluster(study).datanodes}); "
        "write hadoop: {datanodes: ...} with as many"
    )


def _misplaced(study: Study, reach: Reach) -> str:
    """Why a change on the target, or of the workload, would not concern the data; empty if it does.

    A file system on a target in HDFS is refused already, whatever it is for.
    """
    there = bool(study.target.cluster_uri)
    moved = study.service and bool(_cluster(study).data_dirs)
    if there and reach is Reach.WORKLOAD:
        return _NOT_OF_DAEMONS
    if reach.needs_place and (there or moved):
        return _ELSEWHERE
    return _NO_DATA if moved and not there and reach is Reach.DISK else ""


def _mounts_own_hdfs(study: Study) -> bool:
    return any(mount.source == _LOCAL for mount in study.target.mount_requests.values())


def _describe_storage(study: Study) -> str:
    return (
        study.target.cluster_uri or f"data_dirs: {', '.join(map(str, _cluster(study).data_dirs))}"
    )
