#!/bin/sh
# Waits until the lock on a journal is free, and restores what its owner left changed.
# Usage: watchdog.sh JOURNAL PYTHON [OUTPUT_FOLDER]; see watchdog.py.

[ -e "$1" ] || exit 0
exec 9<"$1" # exits where the journal has been removed since
flock --shared 9 || exit
exec 9<&-
[ -e "$1" ] || exit 0 # a run that has restored everything removes its journal
exec "$2" -P -m iostudy.cli.watchdog_recovery "$@"
