"""Power analysis from an A/A study."""
