"""Writers of kernel values in the configuration of a host, in the order in which they run."""
