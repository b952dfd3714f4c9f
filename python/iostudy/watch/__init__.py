"""Live readings of the machine's devices, and their output formats."""
