"""Benchmarks of the program against its peers, as ratios within one run.

SIGTERM ends a benchmark as an exception, so that it removes its folders and restores its changes.
"""

import signal
import sys

if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
