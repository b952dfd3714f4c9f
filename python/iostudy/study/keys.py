"""Keys of a study file with their descriptions."""

from __future__ import annotations

from collections.abc import Mapping

DESCRIPTIONS: Mapping[str, str] = {
    "question": "The question in a sentence; the report answers it.",
    "target": "Where to work: a directory, a disk made for the study ({loopback: {size: 2GiB}}), a "
    "device whose data may be destroyed ({scratch: {device: /dev/...}}), or hdfs://HOST/FOLDER.",
    "factors": "What varies: names of settings and workload options with their levels; the first "
    "level of each is the baseline.",
    "search": "In the place of factors: ranges to search for the best values.",
    "configurations": "The combinations of levels to run, by labels; every one by default.",
    "design": "How the runs of a screening are chosen, which finds the factors that matter.",
    "baseline": "The label of the configuration that others are compared with; the first by "
    "default.",
    "bounds": "Labels of configurations that show what is possible and that nobody would keep.",
    "workloads": "What is run: a list of workloads with their options.",
    "load": "An option of the workloads whose levels make a curve, such as {workload.jobs: [20, "
    "40]}.",
    "hadoop": "The cluster that Hadoop workloads run on; one of a DataNode by default.",
    "decide": "What decides; fixed before the first trial.",
    "validity": "When a trial does not count; fixed before the first trial.",
    "telemetry": "How the machine is watched while a trial runs.",
    "prepare": "What is done before every trial.",
    "refused": "What becomes of configurations that the host refuses: the study stops, or leaves "
    "them out.",
    "without_root": "What takes the place of the same keys without root.",
    "seed": "A whole number that fixes the order of trials and the data; drawn by default.",
    "reference": "Published figures that the report shows; no verdict rests on them.",
}
KEYS = tuple(DESCRIPTIONS)
FALLBACK_KEYS = ("factors", "search", "target", "question")
REFUSED = ("stop", "leave-out")
MAX_QUESTION = 1000
"""Characters, which stand at the top of each page of a report."""
MAX_SEED = 2**63
"""Exclusive."""
