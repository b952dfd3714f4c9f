"""Mount options: as texts, as system calls, and as what the kernel shows of them."""
