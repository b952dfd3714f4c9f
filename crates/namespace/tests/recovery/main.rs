//! Tests of recovery after kill -9, file-system shutdown and damage.

mod child;
mod damage;
mod failing;
mod history;
mod kill;
mod loop_disk;
mod shutdown;
mod unreadable;
