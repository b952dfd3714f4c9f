"""What a study file says of nodes, and what several nodes cannot run."""
