"""What is there, read only: mounts, block devices and how they stack, the host as a whole."""
