//! Source of a thread that performs the steps of a script, with the time of each.

use iostudy_schedulers::Nanos;

use crate::figures::TimedStep;
use crate::thread::{Operation, Source, Step};

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// Operations one after the other; their time is recorded with a label.
    Timed(u64, Vec<Operation>),
    /// Wait until every other thread of the job waits or has ended.
    AwaitOthers,
}

/// The step under way: its label, its start and the operations that are left.
type Current = (u64, Nanos, std::vec::IntoIter<Operation>);

/// A thread with a script.
pub struct Script {
    steps: Box<dyn Iterator<Item = ScriptStep> + Send>,
    current: Option<Current>,
    timed: Vec<TimedStep>,
}

impl Script {
    /// A thread that performs these steps.
    pub fn new(steps: impl Iterator<Item = ScriptStep> + Send + 'static) -> Self {
        Self {
            steps: Box::new(steps),
            current: None,
            timed: Vec::new(),
        }
    }

    fn end_step(&mut self, elapsed: Nanos) {
        if let Some((label, began, _)) = self.current.take() {
            self.timed.push(TimedStep {
                label,
                began,
                ended: elapsed,
            });
        }
    }
}

impl Source for Script {
    fn next(&mut self, elapsed: Nanos) -> Step {
        loop {
            if let Some(operation) = self.current.as_mut().and_then(|(.., left)| left.next()) {
                return Step::Run(operation);
            }
            self.end_step(elapsed);
            match self.steps.next() {
                Some(ScriptStep::Timed(label, operations)) => {
                    self.current = Some((label, elapsed, operations.into_iter()));
                }
                Some(ScriptStep::AwaitOthers) => return Step::AwaitOthers,
                None => return Step::End,
            }
        }
    }

    fn timed_steps(&mut self) -> Vec<TimedStep> {
        std::mem::take(&mut self.timed)
    }
}
