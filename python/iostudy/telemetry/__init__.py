"""Telemetry of the machine: a recorder around the Rust sampler, and its figures."""
