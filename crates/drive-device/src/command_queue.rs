//! Admission of commands to the model, never more than its queue depth.

use std::collections::VecDeque;

use iostudy_drive::{Completion, Drive, Nanos, Request, SubmitError};

/// A drive with the commands that wait because its queue is full.
///
/// A host that keeps to the queue depth makes no command wait. `over_depth` counts those that did.
#[derive(Debug)]
pub struct CommandQueue {
    drive: Drive,
    waiting: VecDeque<Request>,
    most_in_flight: usize,
    over_depth: u64,
}

impl CommandQueue {
    /// A queue without commands.
    pub const fn new(drive: Drive) -> Self {
        Self {
            drive,
            waiting: VecDeque::new(),
            most_in_flight: 0,
            over_depth: 0,
        }
    }

    /// Most commands that the drive had at once.
    pub const fn most_in_flight(&self) -> usize {
        self.most_in_flight
    }

    /// Commands that arrived while the drive's queue was full.
    pub const fn over_depth(&self) -> u64 {
        self.over_depth
    }

    /// Time of the drive's next event.
    pub fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event()
    }

    /// The next of the drive's known completions.
    pub fn next_completion(&self) -> Option<Completion> {
        self.drive.next_completion()
    }

    /// Submit a command at `time`, or let it wait for a place in the queue.
    ///
    /// The host has the answers to `answered` commands that the drive has not completed yet.
    pub fn submit(
        &mut self,
        time: Nanos,
        request: Request,
        answered: usize,
    ) -> Result<(), SubmitError> {
        if self.waiting.is_empty() && self.try_submit(time, request)? {
            return Ok(());
        }
        if self.waiting.len() >= answered {
            self.over_depth += 1;
        }
        self.waiting.push_back(request);
        Ok(())
    }

    /// The next completion up to `time`; a waiting command takes its place in the queue.
    pub fn complete(&mut self, time: Nanos) -> Option<Completion> {
        let completion = self.drive.complete(time)?;
        if let Some(next) = self.waiting.pop_front() {
            let admitted = self.try_submit(time, next);
            assert_eq!(admitted, Ok(true), "the completion has freed a place");
        }
        Some(completion)
    }

    fn try_submit(&mut self, time: Nanos, request: Request) -> Result<bool, SubmitError> {
        match self.drive.submit(time, request) {
            Ok(()) => {
                self.most_in_flight = self.most_in_flight.max(self.drive.in_flight());
                Ok(true)
            }
            Err(SubmitError::QueueFull { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use iostudy_drive::{Operation, Parameters};

    use super::*;

    /// A small flash drive with a queue of two.
    pub fn drive() -> Drive {
        let text = r#"{"family": "flash", "capacity": 8192, "channels": 2, "dies": 2,
            "page_bytes": 4096, "pages": 16, "unit_bytes": 4096, "over_provisioning": 0.5,
            "read": 100000, "program": 500000, "erase": 2000000, "page_transfer": 4000,
            "block_transfer": 100, "command": 5000, "buffer_bytes": 65536,
            "protected_buffer": true, "slc": null, "depth": 2}"#;
        let parameters: Parameters = serde_json::from_str(text).unwrap();
        Drive::new(parameters)
    }

    fn read(id: u64, block: u64) -> Request {
        Request {
            id,
            operation: Operation::Read,
            block,
            blocks: 8,
            fua: false,
        }
    }

    #[test]
    fn the_model_never_has_more_than_its_depth() {
        let mut queue = CommandQueue::new(drive());
        for id in 0..10 {
            queue.submit(0, read(id, id * 8), 0).unwrap();
        }
        assert_eq!((queue.most_in_flight(), queue.over_depth()), (2, 8));
        let mut ids = Vec::new();
        while let Some(time) = queue.next_event() {
            ids.extend(queue.complete(time).map(|each| each.id));
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..10).collect::<Vec<_>>());
        assert_eq!(queue.most_in_flight(), 2);
    }

    #[test]
    fn a_command_may_follow_an_answer_before_its_completion() {
        let mut queue = CommandQueue::new(drive());
        for id in 0..2 {
            queue.submit(0, read(id, id * 8), 0).unwrap();
        }
        queue.submit(0, read(2, 16), 1).unwrap();
        assert_eq!(queue.over_depth(), 0);
        queue.submit(0, read(3, 24), 1).unwrap();
        assert_eq!(queue.over_depth(), 1);
    }

    #[test]
    fn blocks_beyond_the_end_are_refused() {
        let mut queue = CommandQueue::new(drive());
        assert!(queue.submit(0, read(0, 1 << 30), 0).is_err());
        assert_eq!(queue.over_depth(), 0);
    }
}
