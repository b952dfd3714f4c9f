"""Execution of a study: schedule, runner, trials, validity and listeners."""
