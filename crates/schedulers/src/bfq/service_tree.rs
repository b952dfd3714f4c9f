//! B-WF2Q+ for the queues of one class: virtual time, and the choice of the next queue.

use std::collections::BTreeSet;

/// Virtual time in sectors per unit of weight, as a multiple of 2^-22.
pub type Stamp = u128;

/// One sector per unit of weight.
pub const SCALE: Stamp = 1 << 22;

/// Number of a queue in the scheduler.
pub type QueueId = u32;

/// Place of a queue in the tree of its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In no set; its weight does not count.
    #[default]
    Outside,
    /// In the active set.
    Active,
    /// In service; its weight counts.
    InService,
    /// Empty, with a finish stamp that the virtual time has not reached; its weight counts.
    Idle,
}

/// Stamps and service of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entity {
    /// Start stamp.
    pub start: Stamp,
    /// Finish stamp.
    pub finish: Stamp,
    /// Weight in effect.
    pub weight: u32,
    /// Budget of the slot, in charged sectors.
    pub budget: u64,
    /// Service received in the slot, in charged sectors.
    pub service: u64,
    place: Place,
    sequence: u64,
}

impl Entity {
    /// Charged sectors that the budget still covers.
    pub const fn budget_left(&self) -> u64 {
        self.budget.saturating_sub(self.service)
    }

    /// Place in the tree.
    pub const fn place(&self) -> Place {
        self.place
    }

    fn span(&self, sectors: u64) -> Stamp {
        Stamp::from(sectors) * SCALE / Stamp::from(self.weight)
    }
}

/// The queues of a class in their virtual time.
#[derive(Debug, Default)]
pub struct ServiceTree {
    time: Stamp,
    weight_sum: u64,
    activations: u64,
    active: BTreeSet<(Stamp, u64, QueueId, Stamp)>,
    idle: BTreeSet<(Stamp, QueueId, u32)>,
}

impl ServiceTree {
    /// Virtual time.
    #[cfg(test)]
    pub const fn time(&self) -> Stamp {
        self.time
    }

    /// Whether no queue waits for service.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Queues that wait for service, by finish stamp.
    pub fn waiting(&self) -> impl Iterator<Item = QueueId> + '_ {
        self.active.iter().map(|&(_, _, id, _)| id)
    }

    /// Account `sectors` of service to a queue of this class.
    pub fn serve(&mut self, entity: &mut Entity, sectors: u64) {
        entity.service += sectors;
        self.time += Stamp::from(sectors) * SCALE / Stamp::from(self.weight_sum.max(1));
        self.forget_idle();
    }

    /// Queue `id` gets a request: it waits with `entity.budget` and `weight`.
    ///
    /// `back_shift` lets a queue that returned in time keep its old finish stamp as its start;
    /// `raising` is its weight-raising factor.
    pub fn activate(
        &mut self,
        id: QueueId,
        entity: &mut Entity,
        weight: u32,
        back_shift: bool,
        raising: u32,
    ) {
        let shifted = back_shift && self.time > entity.finish;
        let base = if shifted { entity.finish } else { self.time };
        if self.idle.remove(&(entity.finish, id, entity.weight)) {
            self.weight_sum -= u64::from(entity.weight);
            entity.start = base.max(entity.finish);
        } else {
            entity.start = base;
        }
        self.weight_sum += u64::from(weight);
        entity.weight = weight;
        entity.finish = entity.start + entity.span(entity.budget);
        if shifted && self.time > entity.finish {
            let lag = (self.time - entity.finish) / Stamp::from(raising);
            entity.start += lag;
            entity.finish += lag;
        }
        self.enqueue(id, entity);
    }

    /// The queue in service keeps requests: it waits again with `entity.budget` and `weight`.
    pub fn requeue(&mut self, id: QueueId, entity: &mut Entity, weight: u32) {
        entity.start += entity.span(entity.service);
        self.weight_sum = self.weight_sum - u64::from(entity.weight) + u64::from(weight);
        entity.weight = weight;
        entity.finish = entity.start + entity.span(entity.budget);
        self.enqueue(id, entity);
    }

    /// Queue `id`, in service or waiting, is empty.
    pub fn deactivate(&mut self, id: QueueId, entity: &mut Entity) {
        self.dequeue(id, entity);
        entity.finish = entity.start + entity.span(entity.service);
        if entity.finish > self.time {
            entity.place = Place::Idle;
            self.idle.insert((entity.finish, id, entity.weight));
        } else {
            entity.place = Place::Outside;
            self.weight_sum -= u64::from(entity.weight);
        }
    }

    /// Take queue `id` out of the active set and serve it.
    pub fn begin_service(&mut self, id: QueueId, entity: &mut Entity) {
        self.dequeue(id, entity);
        entity.place = Place::InService;
    }

    /// Give a waiting or served queue `weight` at once, with its finish stamp.
    pub fn reweigh(&mut self, id: QueueId, entity: &mut Entity, weight: u32) {
        let waits = entity.place == Place::Active;
        self.dequeue(id, entity);
        self.weight_sum = self.weight_sum - u64::from(entity.weight) + u64::from(weight);
        entity.weight = weight;
        entity.finish = entity.start + entity.span(entity.budget);
        if waits {
            self.enqueue(id, entity);
        }
    }

    /// The queue to serve next: of those with start stamps up to the virtual time, the one with
    /// the lowest finish stamp. If there is none, the virtual time jumps to the lowest start stamp.
    pub fn choose(&mut self) -> Option<QueueId> {
        let mut lowest = Stamp::MAX;
        for &(_, _, id, start) in &self.active {
            if start <= self.time {
                return Some(id);
            }
            lowest = lowest.min(start);
        }
        if lowest == Stamp::MAX {
            return None;
        }
        self.time = lowest;
        self.forget_idle();
        self.choose()
    }

    fn enqueue(&mut self, id: QueueId, entity: &mut Entity) {
        entity.place = Place::Active;
        entity.sequence = self.activations;
        self.activations += 1;
        self.active
            .insert((entity.finish, entity.sequence, id, entity.start));
    }

    fn dequeue(&mut self, id: QueueId, entity: &Entity) {
        if entity.place == Place::Active {
            let key = (entity.finish, entity.sequence, id, entity.start);
            self.active.remove(&key);
        }
    }

    fn forget_idle(&mut self) {
        while let Some(&(finish, _, weight)) = self.idle.first() {
            if finish > self.time {
                break;
            }
            self.idle.pop_first();
            self.weight_sum -= u64::from(weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two queues with always more requests, and their tree.
    struct Pair {
        tree: ServiceTree,
        entities: [Entity; 2],
    }

    impl Pair {
        fn new(weights: [u32; 2]) -> Self {
            let mut pair = Self {
                tree: ServiceTree::default(),
                entities: [Entity::default(); 2],
            };
            for (id, weight) in (0..).zip(weights) {
                let entity = &mut pair.entities[id as usize];
                entity.budget = 10922;
                pair.tree.activate(id, entity, weight, false, 1);
            }
            pair
        }

        /// Serve the next queue. Returns it.
        fn slot(&mut self, sectors: u64) -> QueueId {
            let id = self.tree.choose().expect("a waiting queue");
            let entity = &mut self.entities[id as usize];
            assert!(entity.start <= self.tree.time());
            let weight = entity.weight;
            self.tree.begin_service(id, entity);
            self.tree.serve(entity, sectors);
            entity.budget = 16384;
            self.tree.requeue(id, entity, weight);
            entity.service = 0;
            id
        }

        /// Virtual time, and start stamps of both queues, in tenths.
        fn tenths(&self) -> [u128; 3] {
            let stamps = [
                self.tree.time(),
                self.entities[0].start,
                self.entities[1].start,
            ];
            stamps.map(|stamp| (stamp * 10 + SCALE / 2) / SCALE)
        }
    }

    #[test]
    fn e8_1_stamps() {
        let mut pair = Pair::new([40, 40]);
        assert_eq!(pair.slot(10240), 0);
        assert_eq!(pair.tenths(), [1280, 2560, 0]);
        assert_eq!(pair.slot(10240), 1);
        assert_eq!(pair.tenths(), [2560, 2560, 2560]);
        let finish = pair
            .entities
            .map(|entity| (entity.finish * 10 + SCALE / 2) / SCALE);
        assert_eq!(finish, [6656, 6656]);
        assert_eq!([pair.slot(13312), pair.slot(13312)], [0, 1]);
    }

    #[test]
    fn e8_2_stamps() {
        let mut pair = Pair::new([80, 40]);
        let slots = [
            (10240, 0, [853, 1280, 0]),
            (10240, 1, [1707, 1280, 2560]),
            (13312, 0, [2816, 2944, 2560]),
            (13312, 1, [3925, 2944, 5888]),
            (13312, 0, [5035, 4608, 5888]),
            (13312, 0, [6144, 6272, 5888]),
            (13312, 1, [7253, 6272, 9216]),
        ];
        for (sectors, id, stamps) in slots {
            assert_eq!(pair.slot(sectors), id);
            assert_eq!(pair.tenths(), stamps);
        }
    }

    #[test]
    fn section_8_2_idle_queue_keeps_its_weight_until_its_finish() {
        let mut pair = Pair::new([40, 40]);
        let id = pair.tree.choose().expect("a waiting queue");
        let [first, second] = &mut pair.entities;
        pair.tree.begin_service(id, first);
        pair.tree.serve(first, 800);
        pair.tree.deactivate(id, first);
        // Its finish stamp is 20, and the virtual time 10.
        assert_eq!((first.place(), pair.tree.weight_sum), (Place::Idle, 80));
        pair.tree.begin_service(1, second);
        pair.tree.serve(second, 800);
        assert_eq!(pair.tree.weight_sum, 40);
    }

    #[test]
    fn section_8_2_back_shift() {
        let mut pair = Pair::new([40, 40]);
        let [first, second] = &mut pair.entities;
        pair.tree.begin_service(0, first);
        pair.tree.serve(first, 400);
        pair.tree.deactivate(0, first);
        pair.tree.begin_service(1, second);
        pair.tree.serve(second, 4000);
        let finish = first.finish;
        assert!(pair.tree.time() > finish);
        first.budget = 10522;
        pair.tree.activate(0, first, 40, true, 1);
        assert_eq!(first.start, finish);
    }
}
