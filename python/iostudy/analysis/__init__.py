"""Statistical analysis of measurements, as pure functions."""
