"""Words that mark the report of a simulated study."""

from __future__ import annotations

PREDICTED = "Predicted"
EXPLANATION = (
    "These figures are predictions: threads, page cache, scheduler and drive were simulated, and "
    "no host was measured. Verdicts and intervals concern the model, which is not validated: a "
    "first comparison with a kernel contradicts some predictions (docs/simulator.md)."
)
