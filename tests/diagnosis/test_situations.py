"""Each synthetic situation has the expected diagnosis and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.context import DiagnosisContext, SerialUsage
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import (
    ELASTICITY,
    MINIMUM_RUN_SECONDS,
    SHORT_RUN_SECONDS,
    UTILIZATION,
    Confidence,
    ConfidenceThresholds,
)
from iostudy.diagnosis.rules import memory, network, processor, rate_cap
from iostudy.telemetry.summary import Submitter, TelemetrySummary
from tests.diagnosis.synthetic import (
    DISK,
    FIRST_TOUCH,
    MACHINE,
    PEER,
    SECONDS,
    SITUATIONS,
    SLOW,
    Situation,
    confined,
    cpu,
    disk,
    log,
    make_context,
    nfs_operations,
    spinning,
    waiting,
)

NOISE = 0.05
BY_NAME = {situation.name: situation for situation in SITUATIONS}
CONSTANT = {"cores", "allowed_cores", "dirty_limit_kB", "cap_r/s", "cap_rkB/s"}


def confident_limits(diagnosis: Diagnosis) -> set[Bottleneck]:
    """What is said with more than low confidence."""
    sure = (each for each in diagnosis.findings if each.confidence is not Confidence.LOW)
    return {finding.limit for finding in sure}


def check(situation: Situation, summary: TelemetrySummary) -> None:
    diagnosis = diagnose(summary, situation.context)
    assert diagnosis.limit is situation.limit, (situation.name, diagnosis.sentence)
    assert confident_limits(diagnosis) - {situation.limit} <= situation.consequences, (
        diagnosis.further_sentences
    )


def test_others_on_its_disk_are_not_blamed_for_the_pauses_of_a_program():
    """It reads for a fifth of the time; its concurrency is unknown."""
    reading = Situation(
        "a program that reads now and then from a disk with platters that others keep busy",
        Bottleneck.DEVICE,
        {DISK: disk(reads=5, writes=95, wait_ms=40, util=99)},
        workload=waiting(1, 0.01) | {"waiting": 0.2, "read_kB": 2000.0, "written_kB": 0.0},
        submitters=(Submitter(DISK, "dd", 77, 38_000.0),),
        context=make_context(rotational=True),
    )
    assert confident_limits(diagnose(reading.summary, reading.context)) == set()
    busy = replace(reading, workload={**reading.workload, "waiting": 0.99})
    assert Bottleneck.FOREIGN in confident_limits(diagnose(busy.summary, busy.context))


def test_every_limit_has_a_situation():
    assert {situation.limit for situation in SITUATIONS} == set(Bottleneck)
    assert all(count == 1 for count in Counter(each.name for each in SITUATIONS).values())


def test_only_the_expected_bottlenecks_are_found():
    for situation in SITUATIONS:
        check(situation, situation.summary)
        expected = {situation.limit, *situation.consequences} - {Bottleneck.UNCLEAR}
        limits = confident_limits(diagnose(situation.summary, situation.context))
        assert limits == expected, situation.name


@st.composite
def noisy(draw: st.DrawFn, situation: Situation) -> TelemetrySummary:
    """The recording with every figure up to 5 % off, each for itself, and shares up to 100 %."""
    summary, near = situation.summary, st.floats(1 - NOISE, 1 + NOISE)

    def shaken(figures: Mapping[str, float]) -> dict[str, float]:
        moved = {name: value * draw(near) for name, value in figures.items() if value}
        shares = {n for n, v in figures.items() if n.startswith("%") and v <= 100}
        moved = {n: min(100.0, v) if n in shares else v for n, v in moved.items()}
        return {**figures, **moved, **{n: figures[n] for n in CONSTANT & figures.keys()}}

    return replace(
        summary,
        devices={name: shaken(figures) for name, figures in summary.devices.items()},
        machine=shaken(summary.machine),
        network={name: shaken(figures) for name, figures in summary.network.items()},
        nfs={name: shaken(figures) for name, figures in summary.nfs.items()},
        workload=shaken(summary.workload),
    )


@pytest.mark.parametrize("name", BY_NAME)
@settings(max_examples=settings.default.max_examples // 5)  # of each of many situations
@given(st.data())
def test_noise_does_not_make_it_another(name, data):
    check(BY_NAME[name], data.draw(noisy(BY_NAME[name])))


def one_figure(limit: Bottleneck, figure: str, value: float) -> Situation:
    """A quiet machine but for one of its figures."""
    return Situation("", limit, machine={figure: value})


def _computing(percent: float) -> Situation:
    return Situation("", Bottleneck.CPU, machine=cpu(percent - 2), workload=spinning(4))


def _computing_on_few(percent: float) -> Situation:
    return Situation("", Bottleneck.CPU, **confined(4, used=4 * percent))


def _paused(percent: float) -> Situation:
    base = BY_NAME["a small dirty limit before a disk that could do more"]
    return replace(base, machine={**base.machine, "%throttled": percent})


def _slow_member(percent: float) -> Situation:
    """So much of all requests in the members are in the slow one."""
    base = BY_NAME["four members, one of them slow"]
    queue = 3 * PEER["aqu-sz"] * percent / (100 - percent)
    slow = disk(writes=295, wait_ms=1000 * queue / 295, util=99, kb=64)
    return replace(base, devices={**base.devices, "sdc": slow})


def _server(waits: float) -> Situation:
    base = BY_NAME["an NFS server with a backlog"]
    figures = {**base.nfs["/home"], "w_exe": waits / 0.9}
    return replace(base, nfs={"/home": figures}, workload=waiting(100))


def _reading_and_computing(percent: float) -> Situation:
    return Situation(
        "",
        Bottleneck.CONCURRENCY,
        {DISK: disk(reads=10 * percent, wait_ms=1, util=percent)},
        workload=waiting(1, 1 - percent / 100),
        context=make_context(concurrency=1),
    )


def _foreign_cpu(percent: float) -> Situation:
    base = BY_NAME["another process that computes on all cores"]
    return replace(base, machine={**base.machine, "foreign_%cpu": percent * MACHINE["cores"]})


def _device(util: float) -> Situation:
    base = BY_NAME["random reads, 32 at once, as fast as with 64"]
    return replace(base, devices={DISK: disk(reads=10_000, wait_ms=3.2, util=util)})


def _capped(percent: float) -> Situation:
    slow = disk(reads=10 * percent, wait_ms=0.2, util=15, **{"cap_r/s": 1000.0})
    return Situation("", Bottleneck.CAP, {DISK: slow}, workload=waiting(8, 0.1))


def _capped_among_others(percent: float) -> Situation:
    capped = {"cap_r/s": 1000.0, "capped_r/s": 10 * percent}
    shared = disk(reads=5000, wait_ms=0.2, util=60, **capped)
    return Situation("", Bottleneck.CAP, {DISK: shared}, workload=waiting(8, 0.1))


def _lost(percent: float) -> Situation:
    base = BY_NAME["a network that loses segments"]
    return replace(base, machine={**base.machine, "%retrans": percent})


def _full(percent: float) -> Situation:
    base = BY_NAME["a full network"]
    return replace(base, network={"eth0": {"%ifutil": percent}})


def _throttled_cpu(events: float) -> Situation:
    base = BY_NAME["a CPU that is too hot"]
    return replace(base, machine={**base.machine, "throttles": events * SECONDS})


def _locked(percent: float) -> Situation:
    return Situation(
        "", Bottleneck.LOCK, context=make_context(serial=(SerialUsage("the tree", percent, 90.0),))
    )


def _logged(percent: float) -> Situation:
    return Situation("", Bottleneck.LOG, context=make_context(serial=(log(percent, 90.0),)))


def _touching(cost: float) -> Situation:
    """Growth at whatever rate takes all of a thread's time."""
    growth = {"cache_growth_ms/MiB": cost, "cache_growth_kB/s": 1000 / cost * 1024}
    return replace(FIRST_TOUCH, machine={**FIRST_TOUCH.machine, **growth})


def _touching_some_time(percent: float) -> Situation:
    growth = {"cache_growth_ms/MiB": 3.0, "cache_growth_kB/s": 10 * percent / 3 * 1024}
    return replace(FIRST_TOUCH, machine={**FIRST_TOUCH.machine, **growth})


RAMPS: tuple[tuple[Bottleneck, ConfidenceThresholds, Callable[[float], Situation]], ...] = (
    (Bottleneck.DEVICE, UTILIZATION, _device),
    (Bottleneck.CAP, rate_cap.NEAR, _capped),
    (Bottleneck.CAP, rate_cap.NEAR, _capped_among_others),
    (Bottleneck.MEMBER, ELASTICITY, _slow_member),
    (Bottleneck.WRITEBACK, memory.THROTTLED, _paused),
    (
        Bottleneck.CPU,
        UTILIZATION,
        _computing,
    ),
    (Bottleneck.CPU, UTILIZATION, _computing_on_few),
    (
        Bottleneck.CORE,
        UTILIZATION,
        lambda x: Situation("", Bottleneck.CORE, workload=spinning(1) | {"%thread": x}),
    ),
    (Bottleneck.FIRST_TOUCH, memory.COST, _touching),
    (Bottleneck.FIRST_TOUCH, memory.HELD, _touching_some_time),
    (Bottleneck.QUOTA, processor.THROTTLED, lambda x: one_figure(Bottleneck.QUOTA, "%quota", x)),
    (
        Bottleneck.RECLAIM,
        memory.STALLED,
        lambda x: one_figure(Bottleneck.RECLAIM, "group_memory_some", x),
    ),
    (Bottleneck.NETWORK, network.FULL, _full),
    (Bottleneck.NETWORK, network.LOST, _lost),
    (Bottleneck.NFS, network.OUTSTANDING, _server),
    (Bottleneck.HEAT, processor.EVENTS, _throttled_cpu),
    (Bottleneck.LOCK, ELASTICITY, _locked),
    (Bottleneck.LOG, ELASTICITY, _logged),
    (Bottleneck.FOREIGN, ELASTICITY, _foreign_cpu),
)


@pytest.mark.parametrize(("limit", "steps", "ramp"), RAMPS, ids=lambda x: str(x)[:12])
def test_the_nearer_to_a_threshold_the_lower_the_confidence(limit, steps, ramp):
    def confidence(value):
        situation = ramp(value)
        findings = diagnose(situation.summary, situation.context).findings
        return next((each.confidence for each in findings if each.limit is limit), None)

    just_below = 0.99
    assert confidence(steps.low * just_below) is None
    assert confidence(steps.low * 1.01) is Confidence.LOW
    assert confidence(steps.medium * just_below) is Confidence.LOW
    assert confidence(steps.medium * 1.01) is Confidence.MEDIUM
    assert confidence(steps.high * just_below) is Confidence.MEDIUM
    assert confidence(steps.high * 1.01) is Confidence.HIGH


@pytest.mark.parametrize(
    ("steal", "found"),
    [(20.0, None), (30.0, Confidence.LOW), (45.0, Confidence.MEDIUM), (60.0, Confidence.MEDIUM)],
)
def test_stolen_time_matters_by_what_less_of_it_would_gain(steal, found):
    machine = cpu(98 - steal, steal=steal) | {"%core": 60.0}
    situation = Situation("", Bottleneck.STEAL, machine=machine, workload=spinning(4))
    findings = diagnose(situation.summary, situation.context).findings
    assert {each.limit: each.confidence for each in findings}.get(Bottleneck.STEAL) is found
    waits = replace(situation, workload=waiting(32))
    assert not diagnose(waits.summary, waits.context).findings


def test_concurrency_is_never_sure_without_a_run_that_had_more():
    situation = _reading_and_computing(70)
    (finding,) = diagnose(situation.summary, situation.context).findings
    assert finding.confidence is Confidence.MEDIUM
    assert not diagnose(_reading_and_computing(30).summary, situation.context).findings


@pytest.mark.parametrize(
    ("used", "confidence"),
    [(90.0, Confidence.HIGH), (None, Confidence.MEDIUM), (45.0, Confidence.LOW)],
)
def test_the_bottleneck_is_the_busy_resource_that_the_workload_waits_for(used, confidence):
    situation = Situation("", Bottleneck.LOG, context=make_context(serial=(log(80, used),)))
    (finding,) = diagnose(situation.summary, situation.context).findings
    assert (finding.limit, finding.confidence) == (Bottleneck.LOG, confidence)
    idle = diagnose(situation.summary, make_context(serial=(log(80, 30),)))
    assert not idle.findings


@pytest.mark.parametrize(("util", "helps"), [(56.0, True), (85.0, False)])
def test_the_sentence_of_an_idle_log_disk_rules_out_bandwidth(util, helps):
    base = BY_NAME["a log that syncs one batch after the other, on a disk that is idle in between"]
    summary = replace(base.summary, devices={DISK: {**base.devices[DISK], "%util": util}})
    said = diagnose(summary, base.context).sentence
    assert f"sda was busy {util:g} %" in said
    assert ("sync latency helps and more bandwidth does not" in said) is helps


def test_waits_for_a_log_are_no_low_concurrency():
    """Three quarters of its requests wait for the device, and hardly an operation for them."""
    base = BY_NAME["one thread that computes and reads in turn"]
    assert diagnose(base.summary, base.context).limit is Bottleneck.CONCURRENCY
    logged = replace(base.context, serial=(log(20, 60),))
    assert diagnose(base.summary, logged).limit is Bottleneck.UNCLEAR


@pytest.mark.parametrize(("flushes", "percent"), [(0.0, 6.0), (300.0, 36.0), (3000.0, 100.0)])
def test_a_device_is_busy_with_requests_and_with_flushes(flushes, percent):
    flushing = {"f/s": flushes, "f_await": 1.0}
    devices = {DISK: disk(reads=60, util=6, **flushing)}
    busy = diagnose(TelemetrySummary(SECONDS, devices, MACHINE), make_context()).busy
    assert (busy.of, busy.value) == (DISK, pytest.approx(percent))


def test_a_cause_goes_first_also_where_neither_is_sure():
    base = BY_NAME["four members, one of them slow"]
    hardly = {name: {**base.devices[name], "%util": 85.0} for name in (DISK, "sdc")}
    summary = replace(base.summary, devices={**base.devices, **hardly})
    findings = diagnose(summary, base.context).findings
    assert [each.limit for each in findings] == [Bottleneck.MEMBER, Bottleneck.DEVICE]
    assert {each.confidence for each in findings} == {Confidence.LOW}


def test_only_the_lowest_slow_member_is_found():
    """As of LVM's stripes over two mirrors, one of md's and one of its own with a leg a disk."""
    base = BY_NAME["four members, one of them slow"]
    slow, well = dict.fromkeys(("dm-1", "dm-3"), SLOW), dict.fromkeys(("md0", "dm-2"), PEER)
    stacked = {
        DISK: ("dm-1", "md0"),
        "dm-1": ("dm-2", "dm-3"),
        "dm-2": ("sdb",),
        "dm-3": ("sdc",),
        "md0": ("sdd", "sde"),
    }
    summary = replace(base.summary, devices={**base.devices, **slow, **well})
    findings = diagnose(summary, replace(base.context, members=stacked)).findings
    assert [each.of for each in findings if each.limit is Bottleneck.MEMBER] == ["sdc"]


def test_a_device_has_its_name_in_the_study():
    base = BY_NAME["four members, one of them slow"]
    (finding, *_) = diagnose(base.summary, replace(base.context, names={"sdc": "suspect"})).findings
    assert finding.sentence.startswith("The slow member sdc (suspect) was the bottleneck")


@pytest.mark.parametrize(
    ("with_platters", "expected_members"),
    [
        ({"sdc"}, []),  # below a cache, or with a separate journal
        ({"sdb", "sdc"}, ["sdc"]),
        ({"sdb", "sdd"}, ["sdc"]),
    ],
)
def test_only_members_of_the_same_type_are_peers(with_platters, expected_members):
    base = BY_NAME["four members, one of them slow"]
    known = replace(base.context, rotational=frozenset(with_platters))
    findings = diagnose(base.summary, known).findings
    assert [each.of for each in findings if each.limit is Bottleneck.MEMBER] == expected_members


def test_an_array_of_disks_with_platters_is_of_their_make():
    base = BY_NAME["four members, one of them slow"]
    members = {DISK: ("sdb", "sdc"), "sdc": ("sdx", "sdy")}
    known = replace(base.context, members=members, rotational=frozenset({"sdx", "sdy"}))
    limits = {each.limit for each in diagnose(base.summary, known).findings}
    assert Bottleneck.MEMBER not in limits


SECOND_BOTTLENECKS = (
    (Bottleneck.QUOTA, {"%quota": 15.0}),
    (Bottleneck.RECLAIM, {"group_memory_some": 30.0}),
)


@pytest.mark.parametrize(
    ("second", "figures"), SECOND_BOTTLENECKS, ids=[each[0] for each in SECOND_BOTTLENECKS]
)
def test_two_bottlenecks_are_both_found(second, figures):
    for situation in SITUATIONS:
        mixed = replace(situation, machine={**situation.machine, **figures})
        diagnosis, name = diagnose(mixed.summary, mixed.context), situation.name
        both = {situation.limit, second} - {Bottleneck.UNCLEAR}
        assert confident_limits(diagnosis) >= both, name
        how_long_is_known = all(finding.held is not None for finding in diagnosis.findings)
        if situation.limit is Bottleneck.UNCLEAR:
            assert diagnosis.limit is second, name
        elif how_long_is_known and situation.limit is not second:
            assert diagnosis.limit is situation.limit, name


def test_swapping_without_pressure_figures_has_no_duration():
    machine = {name: value for name, value in MACHINE.items() if name != "memory_some"}
    summary = replace(BY_NAME["nothing is busy"].summary, machine=machine | {"pswpin/s": 5000.0})
    (finding,) = diagnose(summary, make_context()).findings
    assert finding.limit is Bottleneck.RECLAIM
    assert finding.held is None
    assert "5000 pages a second swapped in" in finding.sentence
    assert finding.confidence is Confidence.LOW


OWN = ("allocstall/s", "memory_high/s", "memory_max_hits/s")


@pytest.mark.parametrize("figure", OWN)
@pytest.mark.parametrize("known", [True, False], ids=["pressure", "no pressure"])
def test_memory_is_never_sure_without_the_groups_own_pressure(figure, known):
    machine = {name: value for name, value in MACHINE.items() if name != "memory_some"}
    machine |= {"memory_some": 90.0} if known else {"pswpin/s": 5000.0}

    def confidence(more):
        summary = replace(BY_NAME["nothing is busy"].summary, machine=machine | more)
        (finding,) = diagnose(summary, make_context()).findings
        assert finding.limit is Bottleneck.RECLAIM
        return finding.confidence

    assert confidence({}) is Confidence.LOW
    assert confidence({figure: 9.0}) is Confidence.LOW
    assert confidence({figure: 11.0}) is Confidence.MEDIUM


def test_without_the_workloads_figures_nothing_is_said_of_its_own_doing():
    for situation in SITUATIONS:
        summary = replace(situation.summary, workload={}, foreign=())
        limits = {finding.limit for finding in diagnose(summary, situation.context).findings}
        assert not limits & {Bottleneck.CONCURRENCY, Bottleneck.FOREIGN}
        assert "the workload's processes" in diagnose(summary, situation.context).missing


@pytest.mark.parametrize(
    ("name", "limit"),
    [("one thread computing", Bottleneck.CORE), ("all cores computing", Bottleneck.CPU)],
)
def test_without_thread_states_cpu_findings_are_less_certain(name, limit):
    summary = BY_NAME[name].summary
    states = ("%thread", "threads", "running", "waiting")
    workload = {name: value for name, value in summary.workload.items() if name not in states}
    diagnosis = diagnose(replace(summary, workload=workload), make_context(concurrency=1))
    assert (diagnosis.limit, diagnosis.findings[0].confidence) == (limit, Confidence.MEDIUM)
    assert diagnosis.missing == ("the workload's threads",)


def test_insufficient_cores_are_named_without_attribution():
    few = BY_NAME["more threads computing than cores that they may use"]
    assert "the 4 cores that it may use busy 99 % of the time" in (
        diagnose(few.summary, few.context).sentence
    )
    shared = BY_NAME["others that compute on the few cores that a workload may use"]
    computing = BY_NAME["another process that computes on all cores"].foreign
    findings = diagnose(replace(shared.summary, foreign=computing), shared.context).findings
    assert (findings[0].of, findings[0].confidence) == ("", Confidence.MEDIUM)


def test_nothing_recorded_is_unclear_and_says_what_is_missing():
    diagnosis = diagnose(TelemetrySummary(1.0, {}, {}), make_context())
    assert diagnosis.limit is Bottleneck.UNCLEAR
    assert diagnosis.missing == (DISK, "the workload's processes", "memory pressure")


def test_nothing_is_sure_of_a_moment() -> None:
    for situation in SITUATIONS:
        moment = replace(situation.summary, seconds=0.9 * SHORT_RUN_SECONDS)
        assert not confident_limits(diagnose(moment, situation.context)), situation.name


def test_a_very_short_run_has_no_finding() -> None:
    short = "The bottleneck is unclear: 0.18 s are too short; 0.2 s are needed"
    for situation in SITUATIONS:
        moment = replace(situation.summary, seconds=0.9 * MINIMUM_RUN_SECONDS)
        diagnosis = diagnose(moment, situation.context)
        assert (diagnosis.findings, diagnosis.sentence) == ((), short), situation.name


SLEEPS = waiting(1, 0.01) | {"waiting": 0.0, "read_kB": 324.0, "written_kB": 0.0}


def test_a_workload_that_sleeps_has_no_bottleneck_of_others():
    base = BY_NAME["another process that writes to the disk"]
    asleep = replace(base, workload=SLEEPS, context=make_context())
    diagnosis = diagnose(asleep.summary, asleep.context)
    assert (diagnosis.limit, diagnosis.findings) == (Bottleneck.UNCLEAR, ())
    assert diagnosis.sentence == (
        "The bottleneck is unclear: the workload itself did almost nothing: it needed a CPU or "
        "waited for storage 1 % of the time, and read and wrote 324 kB"
    )


@pytest.mark.parametrize(
    "own",
    [{"waiting": 0.1}, {"running": 0.1}, {"%cpu": 10.0}, {"read_kB": 2000.0}],
    ids=lambda own: next(iter(own)),
)
def test_a_workload_that_waits_computes_or_moves_data_is_not_idle(own):
    base = BY_NAME["another process that writes to the disk"]
    active = replace(base, workload=SLEEPS | own, context=make_context())
    assert "did almost nothing" not in diagnose(active.summary, active.context).sentence
    known = replace(base, workload=SLEEPS, context=make_context(concurrency=1))
    assert "did almost nothing" not in diagnose(known.summary, known.context).sentence


def test_a_full_network_limits_a_workload_that_sleeps():
    full = replace(BY_NAME["a full network"], workload=SLEEPS)
    assert diagnose(full.summary, full.context).limit is Bottleneck.NETWORK


@pytest.mark.parametrize(("seconds", "sure"), [(6.0, Confidence.HIGH), (2.0, Confidence.LOW)])
def test_a_recording_with_few_samples_has_no_certain_finding(seconds, sure):
    computing = BY_NAME["all cores computing"]
    known = replace(computing.context, measured_seconds=seconds)
    (finding,) = diagnose(computing.summary, known).findings
    assert finding.confidence is sure
    said = "20 % of the recording was measured (low confidence)"
    assert finding.sentence.endswith(said) is (seconds == 2.0)


@pytest.mark.parametrize(("mounts", "sure"), [((), Confidence.LOW), (("/home",), Confidence.HIGH)])
def test_a_network_matters_to_a_run_with_files_on_nfs_and_on_a_disk(mounts, sure):
    full = BY_NAME["a full network"]
    summary = replace(full.summary, devices={DISK: disk(writes=10, util=1)})
    (finding,) = diagnose(summary, replace(make_context(), nfs_mounts=mounts)).findings
    assert (finding.limit, finding.confidence) == (Bottleneck.NETWORK, sure)


@pytest.mark.parametrize(("at_once", "sure"), [(8, Confidence.LOW), (32, Confidence.MEDIUM)])
def test_the_parallelism_of_a_flash_disk_is_unknown(at_once, sure):
    devices = {DISK: disk(reads=1000 * at_once, wait_ms=1, util=99)}
    base = replace(BY_NAME["nothing is busy"], devices=devices, workload=waiting(at_once))
    (found,) = diagnose(base.summary, make_context(concurrency=at_once)).findings
    assert (found.limit, found.confidence) == (Bottleneck.DEVICE, sure)


def test_a_mirror_that_serves_no_reads_is_not_slow():
    """Writes take the other side as long: its reads, from cache, make its mean wait short."""
    base = BY_NAME["four members, one of them slow"]
    reading = disk(reads=3000, writes=400, wait_ms=1, util=95) | {"r_await": 0.1, "w_await": 2.3}
    devices = {DISK: disk(reads=3000, writes=400, wait_ms=1, util=99), "sdb": reading}
    devices["sdc"] = disk(writes=400, wait_ms=2.3, util=92)
    summary = replace(base.summary, devices=devices)
    mirror = replace(base.context, members={DISK: ("sdb", "sdc")})
    assert Bottleneck.MEMBER not in {each.limit for each in diagnose(summary, mirror).findings}


def test_an_nfs_server_may_be_saturated_by_one_request_at_a_time():
    """A client does not know how busy the server is."""
    summary = replace(
        BY_NAME["an NFS server with a backlog"].summary,
        nfs=nfs_operations(r=(900, 0.9, 0.1)),
        workload=waiting(1, 0.05),
    )
    context = DiagnosisContext(nfs_mounts=("/home",), concurrency=1)
    (finding,) = diagnose(summary, context).findings
    assert (finding.limit, finding.confidence) == (Bottleneck.CONCURRENCY, Confidence.LOW)


@pytest.mark.parametrize(
    ("network", "queue_ms", "sure"),
    [
        ({"eth0": {"%ifutil": 30.0}}, 2.0, Confidence.HIGH),
        ({"eth0": {"%ifutil": 30.0}}, 60.0, Confidence.MEDIUM),
        ({"eth0": {"rxkB/s": 1e5}}, 2.0, Confidence.MEDIUM),
        ({}, 2.0, Confidence.MEDIUM),
    ],
)
def test_a_server_is_sure_only_where_it_is_not_the_network_or_the_clients_queue(
    network, queue_ms, sure
):
    base = BY_NAME["an NFS server with a backlog"]
    base = replace(base, network=network, nfs=nfs_operations(w=(900, 18, queue_ms)))
    diagnosis = diagnose(base.summary, base.context)
    assert (diagnosis.findings[0].limit, diagnosis.findings[0].confidence) == (Bottleneck.NFS, sure)
    assert ("the network's speed" in diagnosis.missing) is ("%ifutil" not in str(network))


@pytest.mark.parametrize("used", [200.0, 330.0])
def test_cores_that_are_half_busy_make_no_surer_than_busier_ones(used):
    """16 threads that want 4 cores: that they wait for these is evidence enough by itself."""
    base = Situation("", Bottleneck.CPU, **confined(16, used=used))
    found = next(
        own
        for own in processor.find_busy_processors(base.summary, base.context)
        if own.limit is Bottleneck.CPU
    )
    assert found.confidence is Confidence.MEDIUM


@pytest.mark.parametrize(("others", "sure"), [(10.0, Confidence.MEDIUM), (95.0, Confidence.LOW)])
def test_a_busy_core_may_be_others_where_they_used_as_much(others, sure):
    machine = {**MACHINE, "%core": 99.0, "foreign_%cpu": others}
    summary = TelemetrySummary(SECONDS, {}, machine, workload={"%cpu": 90.0})
    (found,) = processor.find_busy_processors(summary, make_context())
    assert (found.limit, found.confidence) == (Bottleneck.CORE, sure)


@pytest.mark.parametrize(("own", "found"), [(5.0, 0), (79.0, 0), (80.0, 1)])
def test_a_core_that_only_others_kept_busy_does_not_limit_the_workload(own, found):
    machine = {**MACHINE, "%core": 99.0, "foreign_%cpu": 390.0}
    summary = TelemetrySummary(SECONDS, {}, machine, workload={"%cpu": own})
    assert len(list(processor.find_busy_processors(summary, make_context()))) == found


def _without_host(situation: Situation) -> DiagnosisContext:
    return replace(situation.context, virtual_machine=False, free_page_reporting=False)


@pytest.mark.parametrize(
    ("figures", "context"),
    [
        ({"cache_growth_ms/MiB": 0.5}, FIRST_TOUCH.context),
        ({"cache_growth_kB/s": 20 * 1024.0}, FIRST_TOUCH.context),
        ({}, _without_host(FIRST_TOUCH)),
    ],
    ids=["memory of its own", "hardly any growth", "no virtual machine"],
)
def test_a_core_that_computes_is_no_first_touch(figures, context):
    summary = replace(FIRST_TOUCH.summary, machine={**FIRST_TOUCH.summary.machine, **figures})
    assert diagnose(summary, context).limit is Bottleneck.CORE


def test_paused_writers_are_not_limited_by_first_touches():
    paused = replace(FIRST_TOUCH, machine={**FIRST_TOUCH.machine, "%throttled": 60.0})
    limits = {each.limit for each in diagnose(paused.summary, paused.context).findings}
    assert Bottleneck.FIRST_TOUCH not in limits


def test_requests_of_a_device_are_no_first_touches():
    """Random reads of 4 KiB through the page cache: 256 requests for each MiB."""
    reading = replace(
        FIRST_TOUCH,
        devices={DISK: disk(reads=51_200, wait_ms=0.02, util=70)},
        machine={
            **FIRST_TOUCH.machine,
            "cache_growth_ms/MiB": 5.0,
            "cache_growth_kB/s": 200.0 * 1024,
        },
    )
    limits = {each.limit for each in diagnose(reading.summary, reading.context).findings}
    assert Bottleneck.FIRST_TOUCH not in limits


def test_first_touches_replace_the_busy_core_and_say_why():
    diagnosis = diagnose(FIRST_TOUCH.summary, FIRST_TOUCH.context)
    (finding,) = diagnosis.findings
    assert finding.sentence == (
        "Memory first touched was the bottleneck: 3 ms of system time per MiB of page cache from "
        "free memory, 320 MiB/s of it, the host takes free memory back (free page reporting) "
        "(high confidence)"
    )
    unknown = replace(FIRST_TOUCH.context, free_page_reporting=False)
    (finding,) = diagnose(FIRST_TOUCH.summary, unknown).findings
    assert finding.confidence is Confidence.MEDIUM
