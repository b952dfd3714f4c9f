//! Batches of sync and async requests (specification, sections 3.1 and 3.7).

use super::values::Values;
use crate::clock::Jiffies;

/// The current batch.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags of the specification"
)]
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Whether it is of the sync class.
    pub sync: bool,
    pub end: Jiffies,
    /// Requests per write batch; none before the first use.
    quota: Option<u64>,
    pub writes_left: u64,
    /// Whether it waits for the requests of the other class in the device.
    pub switching: bool,
    /// Whether it is a read batch without a completion yet.
    pub awaits_completion: bool,
    /// Whether the last write batch ran out of requests.
    pub writes_idled: bool,
}

impl Batch {
    pub const fn new(end: Jiffies) -> Self {
        Self {
            sync: false,
            end,
            quota: None,
            writes_left: 0,
            switching: false,
            awaits_completion: false,
            writes_idled: false,
        }
    }

    fn quota(&self, values: &Values) -> u64 {
        self.quota
            .unwrap_or_else(|| (values.batch_expire(false) / 10).max(2))
    }

    pub const fn expired(&self, now: Jiffies) -> bool {
        if self.switching || self.awaits_completion {
            return false;
        }
        now > self.end || (!self.sync && self.writes_left == 0)
    }

    /// Begin a batch of the sync class or of the async class.
    pub fn begin(&mut self, sync: bool, values: &Values) {
        self.switching |= self.sync != sync;
        if !sync {
            if self.sync {
                self.awaits_completion = false;
            }
            self.writes_left = self.quota(values);
            self.writes_idled = false;
        }
        self.sync = sync;
    }

    /// The device is empty, so the batch that switched classes begins its time.
    pub fn end_switch(&mut self, now: Jiffies, values: &Values) {
        self.switching = false;
        if self.sync {
            self.awaits_completion = true;
        } else {
            self.end = now + values.batch_expire(false);
        }
    }

    /// Adapt the quota to the time that the last write batch took, at the first completion of a
    /// read batch.
    pub fn adapt_quota(&mut self, now: Jiffies, values: &Values) {
        let limit = values.batch_expire(false);
        let time = (now + limit).saturating_sub(self.end);
        let quota = self.quota(values);
        let adapted = if time > limit && !self.writes_idled {
            if time > 3 * limit {
                quota / 2
            } else {
                quota - 1
            }
        } else if time < limit && self.writes_left == 0 {
            if 3 * time < limit {
                quota * 2
            } else {
                quota + 1
            }
        } else {
            quota
        };
        self.quota = Some(adapted.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Hz;

    #[test]
    fn e3_4_quotas() {
        let values = Values {
            write_batch_expire: 20,
            ..Values::new(Hz::HZ_1000)
        };
        let mut batch = Batch::new(500);
        assert_eq!(batch.quota(&values), 2);
        batch.adapt_quota(10, &values);
        assert_eq!(batch.quota(&values), 4);
        batch.end = 60;
        batch.writes_left = 1;
        batch.adapt_quota(80, &values);
        assert_eq!(batch.quota(&values), 3);
    }
}
