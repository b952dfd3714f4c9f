"""Make the tables of docs/method/calibration.md: ``python -m tests.calibration.table [NAME]...``.

Each is a function that simulates and returns rows, the heads first. Its place in the page is the
line ``<!-- calibration: its name -->``, below which the table is printed and written anew. What has
tables of its own lists them in a module, and the module here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from tests.calibration import (
    balance_tables,
    blocks_tables,
    claims_tables,
    confirmation_tables,
    continuation_tables,
    curve_tables,
    fleet_tables,
    interval_tables,
    noise_cause_tables,
    ranking_tables,
    screening_tables,
    search_tables,
    series_tables,
    split_plot_tables,
    switchback_tables,
    two_studies_tables,
    unequal_slow_tables,
    verdict_tables,
)
from tests.calibration.rows import PAGE, Row, markdown, placed
from tests.calibration.simulation import SEED

TABLES: Mapping[str, Callable[[], list[Row]]] = {
    table.__name__: table
    for module in (
        verdict_tables,
        claims_tables,
        blocks_tables,
        continuation_tables,
        split_plot_tables,
        ranking_tables,
        screening_tables,
        search_tables,
        series_tables,
        balance_tables,
        two_studies_tables,
        switchback_tables,
        confirmation_tables,
        unequal_slow_tables,
        interval_tables,
        curve_tables,
        fleet_tables,
        noise_cause_tables,
    )
    for table in module.TABLES
}


def main(names: Sequence[str]) -> None:
    """Print the tables of these names (all by default), and write each into the page."""
    for name in names or TABLES:
        table = markdown(TABLES[name]())
        sys.stdout.write(f"{name}, seed {SEED}\n\n{table}\n")
        sys.stdout.flush()
        PAGE.write_text(placed(PAGE.read_text(), name, table))


if __name__ == "__main__":
    main(sys.argv[1:])
