"""Words that mark the report of a simulated study."""

from __future__ import annotations

PREDICTED = "Predicted"
EXPLANATION = (
    "These figures are predictions: threads, page cache, scheduler and drive were simulated, and "
    "no host was measured. Verdicts and intervals concern the model. Its error against a real "
    "kernel is unknown: no scheduler of the simulator has been compared with a kernel yet."
)
