"""Mount options: parsing, system calls and current values."""
