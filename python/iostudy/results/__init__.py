"""Pure results of a study: comparisons, recommendation, scaling, screening and search."""
