"""Design replicate: each node runs the whole study, and the controller fetches the results."""
