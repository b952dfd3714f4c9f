"""What is remembered: every trial with its circumstances, durable before the next begins."""
