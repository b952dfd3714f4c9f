"""Published figures next to the study's own."""
