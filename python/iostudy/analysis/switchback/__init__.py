"""Statistics of switchback studies: pilot, window plan and carry-over."""
