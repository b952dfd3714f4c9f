"""Windows of a switchback study: pilot, response curves and carry-over."""
