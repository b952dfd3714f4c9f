"""Signals that another thread of iostudy receives, while the main thread waits.

They do not interrupt the wait, as a signal just before its system call does not.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import fcntl, os, select, signal, subprocess, sys, tempfile, threading, time
from iostudy.cli.signals import signal_wakeups
from iostudy.cli.signals import install_handlers

def send_here():
    time.sleep(0.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

def wait_for_lock():
    first, second = (open(os.path.join(folder, "lock"), "w") for _ in range(2))
    fcntl.flock(first, fcntl.LOCK_EX)
    fcntl.flock(second, fcntl.LOCK_EX)

START
install_handlers()
threading.Thread(target=send_here, daemon=True).start()
began = time.monotonic()
with tempfile.TemporaryDirectory() as folder:
    try:
        WAIT
    except BaseException as ended:
        print(type(ended).__name__, time.monotonic() - began < WHOLE)
"""
WAKEUPS = "wakeups = signal_wakeups(); wakeups.__enter__()"
SLEEP = "('sh', '-c', 'for i in $(seq 6000); do sleep 0.01; done')"
WAIT_SECONDS, SHORT_SECONDS = 60, 1.5
WAITS = {
    "a pause": "time.sleep(60)",
    "a command of a setting": f"subprocess.run({SLEEP}, timeout=60)",
    "a reader that does not read": "select.select([os.pipe()[0]], [], [], 60)",
    "the lock of a cache": "wait_for_lock()",
    "a thread": "threading.Event().wait(60)",
}

pytestmark = pytest.mark.child


def run_program(start: str, wait: str, seconds: float = WAIT_SECONDS) -> str:
    """The exception that ended a wait, and whether that was before the wait was over."""
    text = PROGRAM.replace("START", start).replace("WAIT", wait).replace("WHOLE", str(seconds))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout.strip()


SILENT_COMMAND = (
    "from iostudy_hadoop.command import CommandLimits, run_command; "
    f"run_command({SLEEP}, CommandLimits(60, 60), os.environ)"
)


@pytest.mark.all_plugins
def test_a_signal_ends_a_silent_command():
    assert run_program(WAKEUPS, SILENT_COMMAND) == "EndedBySignal True"


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_a_signal_ends_every_wait(wait):
    assert run_program(WAKEUPS, wait) == "EndedBySignal True"


def test_without_wakeups_it_would_be_handled_after_the_wait():
    wait = f"time.sleep({SHORT_SECONDS})"
    assert run_program("", wait, SHORT_SECONDS) == "EndedBySignal False"


WITHOUT_THREADS = """
import threading
from iostudy.cli.signals import signal_wakeups

def refuse(thread):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refuse
with signal_wakeups():
    print("started")
"""


def test_a_limit_of_threads_does_not_end_the_program():
    command = [sys.executable, "-c", WITHOUT_THREADS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "started\n"


ENTERED_OFTEN = """
import os, signal, threading
from iostudy.cli.signals import signal_wakeups

def used():
    files = len(os.listdir("/proc/self/fd"))
    return files, threading.active_count(), signal.getsignal(signal.SIGURG)

before = used()
for _ in range(50):
    with signal_wakeups():
        os.kill(os.getpid(), signal.SIGURG)
print(used() == before)
"""


def test_it_leaves_no_descriptor_thread_or_handler():
    command = [sys.executable, "-c", ENTERED_OFTEN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "True\n"
