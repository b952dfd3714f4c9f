"""The bench command: one workload, run once, with telemetry."""
