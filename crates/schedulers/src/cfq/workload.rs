//! Choice of the class and kind of queues to serve, and lengths of slices (specification,
//! sections 4.2 and 4.5).

use super::Cfq;
use super::queue::TreeKind;
use super::trees;
use crate::clock::SECOND;
use crate::request::PriorityClass;
use crate::state::QueueState;

/// The tree that is served, and smoothed numbers of queues.
#[derive(Debug, Default)]
pub struct Workload {
    tree: Option<usize>,
    class: Option<PriorityClass>,
    end: i64,
    /// Smoothed number of queues per class.
    average_queues: [i64; 3],
}

impl Workload {
    /// Choose the kind anew at the next selection.
    pub fn forget(&mut self) {
        self.class = None;
    }

    pub fn is_no_idle(&self) -> bool {
        let no_idle = |class| self.tree == Some(trees::index(class, TreeKind::SyncNoIdle));
        no_idle(PriorityClass::RealTime) || no_idle(PriorityClass::BestEffort)
    }
}

impl Cfq {
    /// Length of a new slice of queue `index`.
    pub(super) fn slice(&mut self, index: u32) -> i64 {
        let queue = &self.queues[index as usize];
        let slice = self.values.base_slice(queue.sync, queue.priority.level);
        if self.values.low_latency == 0 {
            return slice;
        }
        let class = queue.priority.class;
        let busy = self.trees.of_class(class);
        let average = &mut self.workload.average_queues[class as usize];
        *average = (3 * busy.max(*average) + busy.min(*average) + 2) / 4;
        let round = self.values.slice_sync * *average;
        let target = self.values.target_latency;
        if round <= target {
            return slice;
        }
        let low = slice.min(scale(
            slice,
            2 * self.values.slice_idle,
            self.values.slice_sync,
        ));
        scale(slice, target, round).max(low)
    }

    /// The tree to serve, with the time of its workload.
    pub(super) fn choose_tree(&mut self, state: &QueueState) -> Option<usize> {
        let now = super::now(state);
        let classes = [
            PriorityClass::RealTime,
            PriorityClass::BestEffort,
            PriorityClass::Idle,
        ];
        let class = classes
            .into_iter()
            .find(|&class| self.trees.of_class(class) > 0)?;
        let jiffy = super::signed(SECOND / state.settings.hz.seconds(1));
        if let Some(tree) = self.workload.tree
            && self.workload.class == Some(class)
            && class != PriorityClass::Idle
            && !self.trees.0[tree].is_empty()
            && now <= self.workload.end
        {
            return Some(tree);
        }
        let tree = self.trees.lowest(class)?;
        let length = if class == PriorityClass::Idle {
            jiffy
        } else {
            self.workload_length(class, tree).max(2 * jiffy)
        };
        self.workload.tree = Some(tree);
        self.workload.class = Some(class);
        self.workload.end = now + length;
        Some(tree)
    }

    fn workload_length(&self, class: PriorityClass, tree: usize) -> i64 {
        let target = self.values.target_latency;
        let queues = i64::try_from(self.trees.0[tree].len()).expect("a small number");
        let average = self.workload.average_queues[class as usize];
        let all = self.trees.of_class(class).max(average).max(1);
        let length = target * queues / all;
        if tree == trees::index(class, TreeKind::Async) {
            let share = target * self.trees.busy_async() / self.trees.busy();
            scale(
                length.min(share),
                self.values.slice_async,
                self.values.slice_sync,
            )
        } else {
            length.max(2 * self.values.slice_idle)
        }
    }
}

/// `value * numerator / denominator` without overflow.
fn scale(value: i64, numerator: i64, denominator: i64) -> i64 {
    let scaled = i128::from(value) * i128::from(numerator) / i128::from(denominator);
    i64::try_from(scaled).unwrap_or(i64::MAX)
}
