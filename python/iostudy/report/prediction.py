"""Words that mark the report of a simulated study."""

from __future__ import annotations

PREDICTED = "Predicted"
EXPLANATION = (
    "These figures are predictions: threads, page cache, scheduler and drive were simulated, and "
    "no host was measured. Verdicts and intervals concern the model. The error at each figure is "
    "the largest that a comparison with a kernel has shown for that scheduler and drive "
    "(docs/simulator.md)."
)
