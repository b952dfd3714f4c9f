"""The machine under test: settings, workload and telemetry of one trial behind one protocol."""
