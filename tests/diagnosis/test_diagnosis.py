"""Sentences of a diagnosis, with and without findings."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace

import pytest
from pydantic import RootModel

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence, Evidence
from iostudy.telemetry.summary import TelemetrySummary

BUSY = Evidence("%util", "sda", 99.0, "%", "busy 99 % of the time")
QUEUE = Evidence("aqu-sz", "sda", 31.0, "requests", "31 requests waiting")
DEVICE = Finding(Bottleneck.DEVICE, "sda", 99.0, Confidence.HIGH, (BUSY, QUEUE))


def test_a_number_that_json_does_not_have_is_null():
    unknown = RootModel[Evidence](replace(BUSY, value=math.nan))
    assert unknown.model_dump(mode="json")["value"] is None


def test_the_first_finding_is_the_limit_and_others_follow():
    steal = Finding(Bottleneck.STEAL, "", 12.0, Confidence.LOW, (BUSY,))
    diagnosis = Diagnosis((DEVICE, steal))
    assert diagnosis.limit is Bottleneck.DEVICE
    assert diagnosis.sentence == (
        "The device sda was the bottleneck: busy 99 % of the time, 31 requests waiting"
        " (high confidence)"
    )
    assert len(diagnosis.further_sentences) == 1
    assert "hypervisor" in diagnosis.further_sentences[0]


def test_without_findings_the_sentence_has_key_figures():
    diagnosis = Diagnosis(key_figures=(BUSY,), missing=("the workload",))
    assert diagnosis.limit is Bottleneck.UNCLEAR
    assert diagnosis.sentence == (
        "The bottleneck is unclear: busy 99 % of the time, no figures of the workload"
    )
    assert Diagnosis().sentence == "The bottleneck is unclear"


ALONE = Finding(Bottleneck.CORE, "", 99.0, Confidence.HIGH, (BUSY,))
HARDLY = Evidence("busy", "sda", 6.0, "%", "6 % of the time")
NO_HELP = "A faster sda saves at most the 6 % of the time with requests under way"


def test_the_gain_of_a_faster_device_is_stated_for_another_bottleneck():
    diagnosis = Diagnosis((ALONE, DEVICE), busy=HARDLY)
    assert diagnosis.no_help == NO_HELP
    assert diagnosis.sentences == (diagnosis.sentence, *diagnosis.further_sentences, NO_HELP)


@pytest.mark.parametrize(
    ("findings", "busy"),
    [
        ((), HARDLY),
        ((DEVICE,), HARDLY),
        ((replace(ALONE, confidence=Confidence.LOW),), HARDLY),
        ((ALONE,), replace(HARDLY, value=50.0)),
        ((ALONE,), None),
    ],
)
def test_no_gain_is_stated_where_the_device_may_be_the_bottleneck(findings, busy):
    diagnosis = Diagnosis(findings, busy=busy)
    assert diagnosis.no_help == ""
    assert diagnosis.sentences == (diagnosis.sentence, *diagnosis.further_sentences)


def test_a_device_without_figures_is_missing():
    assert diagnose(TelemetrySummary(1.0, {}, {}), DiagnosisContext(("sda",))).missing[0] == "sda"


def test_every_bottleneck_has_a_sentence():
    for limit in Bottleneck:
        sentence = Finding(limit, "sda", 99.0, Confidence.LOW, (BUSY,)).sentence
        assert "was the bottleneck: busy 99 %" in sentence
        assert "{" not in sentence


def test_a_diagnosis_is_json():
    assert json.loads(json.dumps(asdict(Diagnosis((DEVICE,)))))["findings"][0]["limit"] == "device"
