//! Processes, an I/O scheduler and a drive in a closed loop on a virtual clock.
//!
//! Each process submits its next request a think time after one of its requests has completed, so
//! a slow choice of the scheduler delays later arrivals. All requests that processes submit at one
//! instant are inserted before the scheduler dispatches: this is the effect of plugging. Nothing
//! reads a clock, so equal calls give equal figures.

mod figures;
mod process;
mod simulation;

pub use figures::{Figures, ProcessFigures};
pub use process::{Pattern, Process};
pub use simulation::{Experiment, SimulationError};
