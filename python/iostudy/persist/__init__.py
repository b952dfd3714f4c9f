"""How a winner is kept: as configuration that the system reads when it starts."""
