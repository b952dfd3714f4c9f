//! Tests of recovery after kill -9.

use iostudy_namespace::recover;

use crate::child::{MAX_IN_FLIGHT, Serving};
use crate::history::{log, tree_after};

#[test]
fn nothing_acknowledged_is_lost_by_kill_9_and_nothing_is_invented() {
    kill_repeatedly(10);
}

#[test]
#[ignore = "takes minutes: make crash"]
fn nothing_acknowledged_is_lost_by_kill_9_two_hundred_times() {
    kill_repeatedly(200);
}

fn kill_repeatedly(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let log = log(["a", "b"].map(|copy| folder.path().join(copy)).to_vec());
    let mut draw = Draw(0x5eed);
    let (mut last, mut most) = (0, 0);
    for _ in 0..kills {
        let mut serving = Serving::start(&log, last);
        serving.wait_for(draw.below(3000));
        let acknowledged = serving.kill();
        let recovered = recover(&log.directories).unwrap();
        assert!(
            recovered.last >= acknowledged,
            "{} < {acknowledged}",
            recovered.last
        );
        assert!(
            recovered.last <= acknowledged + 4 * MAX_IN_FLIGHT,
            "{} invented",
            recovered.last
        );
        assert_eq!(recovered.tree.digest(), tree_after(recovered.last).digest());
        (last, most) = (recovered.last, most.max(recovered.last - acknowledged));
    }
    println!("{kills} kills, {last} transactions, at most {most} beyond what was acknowledged");
}

/// Deterministic pseudo-random numbers.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695);
        (self.0 >> 33) % end
    }
}
