"""What the measurements mean: pure code, values in and values out."""
