"""Rows of the validation as text, with their goals."""

from __future__ import annotations

from iostudy_lab.study.validation import ValidationRow

RATE_GOAL, P99_GOAL = 0.05, 0.15
ORDER_GOALS = {"none": 0.99, "mq-deadline": 0.99, "kyber": 0.95, "bfq": 0.95}


def print_heads() -> None:
    """Print the goals."""
    print(
        f"goals: rate within {RATE_GOAL:.0%}, 99th percentile of reads within {P99_GOAL:.0%}, "
        "order of issue " + ", ".join(f"{name} {goal:.0%}" for name, goal in ORDER_GOALS.items())
    )


def format_row(row: ValidationRow) -> str:
    """Return a line with both figures, the errors, and what misses its goal."""
    low, high = row.kernel_range
    missed = ", ".join(
        name
        for name, is_missed in (
            ("rate", abs(row.rate_error) > RATE_GOAL),
            ("p99", abs(row.p99_error) > P99_GOAL),
            ("order", row.order < ORDER_GOALS[row.scheduler]),
        )
        if is_missed
    )
    return (
        f"{row.drive}, {row.workload}, {row.scheduler}: kernel {row.kernel_rate:.0f}/s "
        f"[{low:.0f}, {high:.0f}], predicted {row.predicted_rate:.0f}/s, {row.rate_error:+.1%}; "
        f"p99 {row.kernel_p99_ms:.0f} ms, predicted {row.predicted_p99_ms:.0f} ms, "
        f"{row.p99_error:+.1%}; order {row.order:.1%}, punctual {row.punctual:.1%}; "
        f"{row.late_runs} of {row.runs} runs late; misses: {missed or 'nothing'}"
    )
