"""The A/A of a study: its baseline twice, and nothing else than the study has."""

from __future__ import annotations

import pytest

from iostudy.cli.power import AGAIN, BASELINE, build_aa_study
from iostudy.settings import catalog
from iostudy.study import library
from iostudy.study.parser import parse
from iostudy.study.plan import whole_plots
from tests.study.files import load_ready_made

OFFERED = ("none", "mq-deadline", "kyber", "bfq")


def read(text: str):
    return parse(text, where="study.yaml", name="study")


def made(study, blocks=10):
    return read(build_aa_study(study, "/results/out", blocks))


def ready_made(name: str, *, root: bool):
    study = load_ready_made(name)
    study = study if root else study.without_root()
    return study.with_offered({f.name: OFFERED for f in study.awaiting_offer()})


def described(request):
    """The request as a study file has it, in which a list of arguments is a text."""
    return request.label, request.figure, request.options.model_dump(mode="json")


@pytest.mark.all_plugins
def test_every_ready_made_study_has_one():
    for name in library.names():
        require_its_aa(ready_made(name, root=True))
    for name in ("quickstart", "hep-events", "read-ahead"):
        require_its_aa(ready_made(name, root=False))


def require_its_aa(study):
    found = made(study)
    baseline, again = found.configurations()
    assert (baseline.label, again.label) == (BASELINE, AGAIN)
    for each in (baseline, again):
        assert each.settings == study.baseline.settings
        assert each.options == study.baseline.options
        assert each.places == study.baseline.places
    assert list(map(described, found.workloads)) == list(map(described, study.workloads))
    assert (found.services, found.validity) == (study.services, study.validity)
    assert (found.limit, found.telemetry) == (study.limit, study.telemetry)
    assert (found.decide.margin, found.decide.risk) == (study.decide.margin, study.decide.risk)
    assert (found.decide.min_blocks, found.decide.max_blocks) == (10, 10)


TEXT = """
question: Which?
target: {loopback: {size: 1GiB}}
factors: {filesystem.type: [ext4, xfs], sysctl.vm.swappiness: [60, 1]}
workloads: [{io: {label: file-writes, operation: write}}]
"""


def test_the_limit_of_the_load_holds_for_the_baseline():
    limited = read(f"{TEXT}limit: {{rate: 20MiB/s, iops: 500, duration: 1min}}\n")
    assert limited.limit.settings
    require_its_aa(limited)


def test_declared_settings_are_kept_as_written(monkeypatch):
    """A later process knows the setting from the text alone."""
    monkeypatch.setattr(catalog, "_declared", {})
    own = "settings: {my.knob: {read: knob get, write: [knob, '{}', 010]}}\n"
    text = own + TEXT.replace("factors: {", "factors: {my.knob: [a, b], ")
    again = build_aa_study(read(text), "/results/out", 5)
    catalog._declared.clear()
    assert "my.knob" in {factor.name for factor in read(again).factors}
    assert catalog.get("my.knob").write == ("knob", "{}", "010")


def test_comparisons_between_file_systems_have_the_noise_of_making_them():
    across = made(read(TEXT))
    assert len(whole_plots(across.configurations())) == 2
    within = made(read(TEXT.replace("[ext4, xfs]", "[ext4]")))
    assert len(whole_plots(within.configurations())) == 1
    assert len(within.configurations()) == 2


def test_without_root_the_output_folder_takes_the_place_of_a_disk():
    fallback = "without_root: {factors: {workload.direct: [true, false]}}\n"
    study = read(TEXT + fallback).without_root()
    assert made(study).target.path.as_posix() == "/results/out"
    assert made(read(TEXT)).target == read(TEXT).target


def test_places_are_kept_and_the_text_is_always_the_same():
    text = TEXT.replace(
        "filesystem.type: [ext4, xfs]", "block.nr_requests: {levels: [64], on: sda}"
    )
    (baseline, again) = made(read(text)).configurations()
    assert baseline.places == again.places == {"block.nr_requests": ("sda",)}
    assert build_aa_study(read(text), "out", 5) == build_aa_study(read(text), "out", 5)


def test_memory_is_as_warm_as_in_the_study():
    study = load_ready_made("random-read-by-scheduler")
    assert not made(
        study.with_offered({f.name: OFFERED for f in study.awaiting_offer()})
    ).prepare.is_warm
    warm = read(f"{study.text}\nprepare: {{memory: warm}}\n")
    assert made(warm.with_offered({f.name: OFFERED for f in warm.awaiting_offer()})).prepare.is_warm
