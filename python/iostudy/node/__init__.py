"""Machine under test: settings, workload and telemetry of a trial behind one protocol."""
