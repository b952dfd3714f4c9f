"""Calls of a trial to a Hadoop cluster, their order, and failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from iostudy.errors import ClusterError, SettingError, TargetError, WorkloadError
from iostudy.line_handler import LineHandler
from iostudy.node import caches, local, local_block
from iostudy.node.conditions import Conditions
from iostudy.node.free_space import FreeSpace
from iostudy.node.local import LocalNode
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Configuration, Factor, FactorKind
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import build_request as request_of
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.target import Target
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.workload import Place, Workload
from iostudy_hadoop import native_library
from iostudy_hadoop.client import Client
from iostudy_hadoop.native import dfsio
from iostudy_hadoop.service.clusters import ClusterRequest, needs_restarts
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.study.target import HdfsTarget
from tests.plugins.hadoop.fake import FakeCluster

BLOCKSIZE, HANDLERS = "hadoop.dfs.blocksize", "hadoop.dfs.datanode.handler.count"
READ_AHEAD = "hadoop.dfs.datanode.readahead.bytes"
SCHEDULER = "block.scheduler"
AS_IT_IS = Configuration("as it is", {}, {})
LOST = ClusterError("a whole cluster", found="DataNode 0 has ended", where="log", remedy="none")


def blocks_of(size: str) -> Configuration:
    return Configuration(size, {BLOCKSIZE: size}, {})


def handlers(count: str) -> Configuration:
    return Configuration(count, {HANDLERS: count}, {})


def varying(*names: str) -> list[Factor]:
    return [Factor(name, FactorKind.SETTING, ()) for name in names]


@dataclass
class ClusterWorkload(Workload):
    """It records its calls in the cluster's log; ``fails`` is what its run ends with."""

    log: list[str]
    made: str = "files"
    fails: WorkloadError | None = None

    def space_bytes(self) -> int:
        return 8 * MIB

    def reads(self) -> bool:
        return True

    def preparation(self) -> str:
        return self.made

    def prepare(self, place: Place) -> None:
        self.note("prepare", place)

    def reset(self, place: Place) -> None:
        self.note("reset", place)

    def run(self, place: Place) -> Measurement:
        self.note("run", place)
        if self.fails:
            raise self.fails
        return Measurement({"aggregate": 1.0, BYTES: 1.0})

    def clean(self, place: Place) -> None:
        self.note("clean", place)

    def note(self, step: str, place: Place) -> None:
        assert place.service is not None
        self.log.append(step)


@dataclass(frozen=True)
class FolderOfCluster(WorkFolder):
    """In the place of a cluster's daemons, a folder on the host whose removal is visible."""

    cluster: FakeCluster = field(default_factory=lambda: FakeCluster(Path()))

    def apply(self) -> None:
        super().apply()
        self.cluster.log.append("start")

    def undo(self, *arguments: object) -> tuple[str, ...]:
        self.cluster.log.append("stop")
        return super().undo()


@dataclass
class Bench:
    """A cluster without daemons, what its workload does, and a node that is to have it."""

    folder: Path
    cluster: FakeCluster
    workload: ClusterWorkload
    said: list[str] = field(default_factory=list)

    @property
    def log(self) -> list[str]:
        return self.cluster.log

    def order(self, spec: ClusterSpec, *, restarts: bool) -> ClusterRequest:
        def make(work: Path, on_progress: LineHandler) -> FolderOfCluster:
            on_progress("starting")
            return FolderOfCluster(WorkFolder.prepare(work).path, cluster=self.cluster)

        return ClusterRequest(spec, make, self.said.append, restarts)

    def node(self, *factors: Factor, target: Target | None = None, **spec: object) -> LocalNode:
        own = target or DirectoryTarget(None)
        restarts = needs_restarts(own, factors)
        order = self.order(ClusterSpec(**spec), restarts=restarts)  # type: ignore[arg-type]
        return LocalNode(Conditions(own, factors, order), self.folder)

    def steps(self, step: str) -> list[str]:
        return [line for line in self.log if line.startswith(step)]


@pytest.fixture
def bench(tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    folder = tmp_path / "out"
    folder.mkdir()
    cluster = FakeCluster(tmp_path)
    workload = ClusterWorkload(cluster.log)
    definition = replace(dfsio.READ, make=lambda _: workload, service="hadoop")
    monkeypatch.setitem(catalog._ALL, "dfsio-read", definition)
    monkeypatch.setattr(local_block.caches, "write_dirty_pages", lambda: cluster.log.append("sync"))
    monkeypatch.setattr(Client, "program_files", lambda _: ())
    yield Bench(folder, cluster, workload)
    assert list(folder.iterdir()) == []


def request() -> WorkloadRequest:
    given = {"files": 1, "size": "8MiB"}
    return request_of("dfsio-read", catalog.get("dfsio-read").options.model_validate(given))


def test_data_are_made_before_levels_hold_and_the_cluster_is_verified_behind_the_run(
    bench: Bench,
) -> None:
    with bench.node() as node, node.block(request(), seed=1) as session:
        result = session.trial(Configuration("big", {BLOCKSIZE: "1048576"}, {}))
    assert bench.log == [
        "start",
        *("configure dfs.blocksize=1048576", "prepare"),
        *("configure dfs.blocksize=1048576", "reset", "settle", "sync", "run", "verify"),
        *("configure", "clean"),
        "stop",
    ]
    assert list(result.phases) == [
        *("prepare", "apply", "configure", "reset", "settle", "sync", "drop", "run", "restore"),
    ]
    assert result.settings == {"hadoop.dfs.blocksize@cluster": "1048576"}


def test_data_are_shared_by_levels_that_are_not_stored_with_them(bench: Bench) -> None:
    trials = [blocks_of("1048576"), blocks_of("1048576"), blocks_of("2097152"), AS_IT_IS]
    with bench.node() as node, node.block(request(), seed=1) as session:
        prepared = ["prepare" in session.trial(each).phases for each in trials]
    assert prepared == [True, False, True, True]


def test_workload_without_data_does_not_wait(bench: Bench) -> None:
    bench.workload.made = ""
    with bench.node(*varying(HANDLERS)) as node, node.block(request(), seed=1) as session:
        session.trial(replace(handlers("20"), settings={HANDLERS: "20", BLOCKSIZE: "1048576"}))
        session.trial(blocks_of("2097152"))
    assert bench.steps("prepare") == ["prepare"]
    assert len(bench.steps("restart")) == 2


@pytest.mark.parametrize(
    ("name", "restarts"), [(HANDLERS, True), ("limit.nofile_soft", True), (BLOCKSIZE, False)]
)
def test_daemons_are_started_anew_for_all_trials_or_for_none(
    bench: Bench, name: str, *, restarts: bool
) -> None:
    with bench.node(*varying(name)) as node, node.block(request(), seed=1) as session:
        session.trial(AS_IT_IS)
        result = session.trial(AS_IT_IS)
    assert ("restart" in result.phases) is restarts
    # Once for the data, which are made under no level, and once for each trial.
    assert len(bench.steps("restart")) == (3 if restarts else 0)


@pytest.mark.root
def test_daemons_start_under_the_hosts_levels(bench: Bench, monkeypatch) -> None:
    level = Configuration("bfq", {SCHEDULER: "bfq", HANDLERS: "20"}, {})
    observed = []
    target = LoopbackTarget(32 * MIB, "ext4")
    with bench.node(*varying(SCHEDULER, HANDLERS), target=target) as node:
        (scheduler,) = node._site.levels.bind(SCHEDULER)
        host = scheduler.read()  # a loop device keeps what an earlier disk on it had
        ask = bench.cluster.configured

        def spy(properties, *, restart):
            observed.append((scheduler.read(), dict(properties)))
            return ask(properties, restart=restart)

        monkeypatch.setattr(bench.cluster, "configured", spy)
        with node.block(request(), seed=1) as session:
            session.trial(level)
    held = {"dfs.datanode.handler.count": "20"}
    assert observed[1] == ("bfq", held)
    assert observed[0][0] == host


def test_a_lost_daemon_makes_the_trial_invalid_and_the_next_block_begins_whole(
    bench: Bench,
) -> None:
    bench.cluster.lost = {0: LOST}
    with bench.node() as node:
        with (
            node.block(request(), seed=1) as session,
            pytest.raises(ClusterError, match="has ended"),
        ):
            session.trial(AS_IT_IS)
        assert bench.log[-2:] == ["configure", "clean"]
        with node.block(request(), seed=2) as session:
            assert session.trial(AS_IT_IS).figures


def test_a_job_that_fails_for_want_of_a_daemon_says_that(bench: Bench) -> None:
    bench.workload.fails = WorkloadError("a job", found="exit code 1", where="job", remedy="none")
    bench.cluster.lost = {0: LOST}
    with bench.node() as node, node.block(request(), seed=1) as session:
        with pytest.raises(ClusterError, match="has ended"):
            session.trial(AS_IT_IS)
        with pytest.raises(WorkloadError, match="exit code 1"):
            session.trial(AS_IT_IS)


def test_end_of_study_does_not_wait_for_files_of_the_cluster(bench: Bench) -> None:
    class SimulatedSignal(BaseException):
        pass

    with (
        pytest.raises(SimulatedSignal),
        bench.node() as node,
        node.block(request(), seed=1) as session,
    ):
        session.trial(AS_IT_IS)
        raise SimulatedSignal
    assert "clean" not in bench.log
    assert bench.log[-1] == "stop"


def test_level_that_the_cluster_does_not_keep_is_an_error(bench: Bench) -> None:
    bench.cluster.keeps = {"dfs.blocksize": "128MiB"}
    with bench.node() as node, node.block(request(), seed=1) as session:
        kept = session.trial(blocks_of(str(128 * MIB)))
        found = session.trial(blocks_of("as-found"))
        with pytest.raises(SettingError, match="it is 134217728 at its end"):
            session.trial(blocks_of(str(64 * MIB)))
    assert kept.settings == found.settings == {"hadoop.dfs.blocksize@cluster": "134217728"}


def test_preflight_names_the_levels_that_the_cluster_refuses(bench: Bench) -> None:
    bench.cluster.refuses = {("dfs.datanode.handler.count", "4096"): LOST}
    configurations = [handlers("as-found"), handlers("20"), handlers("4096")]
    with bench.node(*varying(HANDLERS)) as node:
        refused = node.preflight([request()], configurations)
    assert refused == {"4096": LOST}
    assert bench.steps("restart") == [
        "restart",
        "restart dfs.datanode.handler.count=20",
        "restart dfs.datanode.handler.count=4096",
    ]


@pytest.mark.parametrize("there", [True, False])
def test_native_codec_is_refused_without_the_native_library(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, there: bool
) -> None:
    monkeypatch.setattr(native_library, "is_loadable", lambda _: there)
    configurations = [
        Configuration(value, {READ_AHEAD: value}, {}) for value in ("as-found", "0", "1048576")
    ]
    with bench.node(*varying(READ_AHEAD)) as node:
        refused = node.preflight([request()], configurations)
    assert list(refused) == ([] if there else ["0", "1048576"])
    assert there or "native library (libhadoop.so)" in str(refused["0"])


def test_circumstances_describe_the_cluster(bench: Bench) -> None:
    with bench.node() as node:
        assert node.circumstances()["hadoop"]["hadoop"] == {"version": "3.4.2"}


def test_workload_on_files_does_not_use_the_cluster(bench: Bench) -> None:
    options = catalog.get("dfsio-write").options.model_validate({"files": 1, "size": "1MiB"})
    with bench.node(*varying(HANDLERS)) as node:
        with node.block(request_of("dfsio-write", options), seed=1) as session:
            assert session.place.service is None
            result = session.trial(handlers("20"))
        assert bench.log == ["start", "sync"]
    assert result.settings == {}


@pytest.mark.parametrize(
    ("spec", "settings", "replicas"),
    [
        ({}, {}, 1),
        ({"datanodes": 2}, {}, 2),
        ({"datanodes": 5}, {}, 3),
        ({"datanodes": 5, "properties": {"dfs.replication": "2"}}, {}, 2),
        ({"datanodes": 5}, {"hadoop.dfs.replication": "4"}, 4),
        ({"datanodes": 5}, {"hadoop.dfs.replication": "as-found"}, 3),
    ],
)
def test_room_is_wanted_for_every_replica(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, spec, settings, replicas
) -> None:
    monkeypatch.setattr(bench.workload, "space_bytes", lambda: 1000 << 40)
    with (
        bench.node(**spec) as node,
        pytest.raises(TargetError, match=f"wanted: {1020 * replicas} TiB"),
    ):
        node.preflight([request()], [Configuration("it", settings, {})])


@pytest.mark.parametrize(("settings", "fits"), [({}, False), ({BLOCKSIZE: str(16 * MIB)}, True)])
def test_datanode_needs_space_for_one_more_block(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, settings: dict[str, str], fits: bool
) -> None:
    monkeypatch.setattr(local, "smallest_free_space", lambda where, _: FreeSpace(where, 100 * MIB))
    expectation = nullcontext() if fits else pytest.raises(TargetError, match="136 MiB")
    with bench.node() as node, expectation:
        node.preflight([request()], [Configuration("it", settings, {})])


def test_room_is_looked_for_where_the_data_lie(bench: Bench, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    bench.workload.space_bytes = lambda: 1 << 60
    with (
        bench.node(data_dirs=(data,)) as node,
        pytest.raises(TargetError, match=str(data)),
    ):
        node.preflight([request()], [AS_IT_IS])


def test_directories_of_the_cluster_are_looked_at_before_it_starts(bench, tmp_path) -> None:
    with pytest.raises(TargetError, match="it does not exist"):
        bench.node(name_dirs=(tmp_path / "none",)).__enter__()
    assert bench.log == []


@pytest.mark.root
def test_a_cluster_goes_with_the_file_system_that_it_is_on(bench: Bench) -> None:
    plots = [
        Configuration(kind, {"filesystem.type": kind}, {}, whole_plot=f"filesystem.type={kind}")
        for kind in ("ext2", "ext4")
    ]
    target = LoopbackTarget(256 * MIB, "ext4")
    with bench.node(*varying("filesystem.type"), target=target) as node:
        assert node.preflight([request()], plots) == {}
        assert bench.log[:4] == ["start", "stop", "start", "configure"]
        bench.log.clear()
        with node.block(request(), seed=1) as session:
            results = [session.trial(each) for each in plots]
        assert bench.steps("st") == ["stop", "start", "stop", "start"]
        # What was in HDFS went with it.
        assert bench.steps("clean") == ["clean"]
    assert [list(each.phases)[:3] for each in results] == [["format", "start", "prepare"]] * 2


def test_first_start_is_reported_once(bench: Bench) -> None:
    with bench.node() as node:
        assert bench.said[0] == "starting"
        assert bench.said[1].startswith("the cluster is ready after ")
        node._site.begin_plot(AS_IT_IS)
        node._site.start_service()
    assert len(bench.said) == 2


def test_a_disk_of_this_machine_is_not_taken_for_that_of_a_cluster_elsewhere(bench: Bench) -> None:
    bench.workload.space_bytes = lambda: 1 << 60  # type: ignore[method-assign]
    with bench.node(target=HdfsTarget("hdfs://far/bench")) as node:
        assert node.preflight([request()], [AS_IT_IS]) == {}
        circumstances = node.circumstances()["target"]
        with node.block(request(), seed=1) as session:
            result = session.trial(AS_IT_IS)
    assert (circumstances["devices"], circumstances["identity"]) == ([], [])
    assert (result.devices, dict(result.telemetry.summary.devices)) == ((), {})
    assert any("foreign I/O cannot be noticed" in note for note in result.notes)


@pytest.mark.parametrize("here", [True, False])
def test_undropped_page_caches_are_noted(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, here: bool
) -> None:
    dropped: list[Path] = []
    monkeypatch.setattr(
        caches, "drop_caches", lambda directories, _account: dropped.extend(directories) or ""
    )
    bench.cluster.dirs = (tmp_path / "data",) if here else ()
    with bench.node() as node, node.block(request(), seed=1) as session:
        result = session.trial(AS_IT_IS)
    assert (tmp_path / "data" in dropped) is here
    assert any("page caches of other machines" in note for note in result.notes) is not here
