"""Statistics of switchback studies: window plan, settling and confirmation."""
