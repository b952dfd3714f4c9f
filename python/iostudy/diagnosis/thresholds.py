"""Thresholds that several rules of the diagnosis share, each with its reason."""

from __future__ import annotations

from iostudy.diagnosis.confidence import ConfidenceThresholds

UTILIZATION = ConfidenceThresholds(80, 90, 95)
"""Percent of the time in which a device or a core was busy; the rest is start and end of the run.
By Amdahl's law a shorter rest saves at most that share: a fifth, a tenth, a twentieth."""
ELASTICITY = ConfidenceThresholds(40, 50, 65)
"""Percent by which the throughput changes when a resource changes by one percent, as the shares of
time suggest it. A resource limits a run from one half on; the calibration chose the last value."""
MOSTLY_IDLE = 50.0
"""Percent of the time. Below this a faster device saves less than half of the run (Amdahl)."""
MINIMUM_HELD = 5.0
"""Percent of the time. A bottleneck that held the run up for less is not reported: by Amdahl's law
its removal gains hardly more than that."""
MINIMUM_CAUSE_SHARE = 0.5
"""Share of the time of its consequence that a cause must have held. A shorter one is no cause."""
MINIMUM_RUN_SECONDS = 0.2
"""A shorter run is not diagnosed: it has under 20 ticks of CPU time and at most 2 samples."""
SHORT_RUN_SECONDS = 0.5
"""Seconds. Every finding of a shorter run has low confidence: CPU time comes in ticks of 10 ms,
processes are scanned once a second, and start and end are a large part of the run."""
MINIMUM_MEASURED = 50.0
"""Percent of the recording that the workload measured. Below this most of the telemetry belongs to
something else, such as the start of a Java process, and need not limit the workload."""
CPU_STARVED = 0.2
"""Share of the workload's operations that waited for a CPU. From here on there were too few CPUs.
Thread states are sampled, and a short run has few samples: with 25 of them the standard error of a
share of 0.2 is 0.08, which separates it from 0."""
MAJORITY = 0.5
"""Share of the transferred data from which on it counts as the workload's, or as others'. A choice:
more than all others together."""
