"""Figures that no verdict uses: other figures, latencies and parts."""
