"""Report on a fleet: one study on several nodes."""
