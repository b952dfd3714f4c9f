"""Read-only view of the host: mounts, block devices and their stacking, inventory."""
