//! Rows of 100 bytes with keys of 10 bytes: `TeraGen`, `TeraSort` and `TeraValidate`.
