"""Settings and scratch disks, journaled before every change."""
