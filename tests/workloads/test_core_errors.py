"""Errors of workloads name what the system refused, and the remedy."""

import errno
import os

from iostudy.workloads.core_errors import io_error


def test_a_folder_that_a_full_file_system_refuses_has_a_remedy(tmp_path):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    error = io_error("to make a folder", full, tmp_path / "above" / "missing")
    assert error.found == "No space left on device"
    assert error.where == str(tmp_path / "above" / "missing")
    assert error.remedy
