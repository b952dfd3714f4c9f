"""What the machine does now: readings of live devices, and the ways to show them."""
