//! What was acknowledged is there again: after kill -9, after a file system that stops, and whatever
//! byte of the log is lost.

mod child;
mod damage;
mod failing;
mod history;
mod kill;
mod loop_disk;
mod shutdown;
mod unreadable;
