"""The study on a node: its folder, the supervisor with a lease, and the controller's commands."""
