//! Fairness of BFQ (section 8.12) for any weights.

mod driver;

use driver::{Simulation, settings};
use iostudy_schedulers::{Bfq, Bio, Priority, PriorityClass, ProcessId, Settings};
use proptest::prelude::*;

const SECTORS: u32 = 512;
const MAX_BUDGET: u32 = 4096;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Served sectors per weight of always-backlogged sequential readers differ by at most two
    /// largest budgets per smallest weight.
    #[test]
    fn backlogged_readers_share_by_weight(
        levels in prop::collection::vec(0_u8..8, 2..5),
        end in 500.0..1500.0_f64,
    ) {
        let large = Settings { nr_requests: 10_000, ..settings() };
        let tunables = [("low_latency", "0"), ("max_budget", &MAX_BUDGET.to_string())];
        let mut simulation = Simulation::new(Bfq::build, large, 1.0).tune(&tunables);
        for (process, &level) in (0_u32..).zip(&levels) {
            let priority = Priority { class: PriorityClass::BestEffort, level };
            for index in 0..1500 {
                let start = u64::from(process) * 1_000_000_000 + index * u64::from(SECTORS);
                let bio = Bio::read(ProcessId(process), start, SECTORS);
                simulation.at(0.0, &process.to_string(), Bio { priority, ..bio });
            }
        }
        let mut served = vec![0_u32; levels.len()];
        for (_, name) in simulation.run(end) {
            served[name.parse::<usize>().expect("a process")] += SECTORS;
        }
        let shares: Vec<f64> = served
            .iter()
            .zip(&levels)
            .map(|(&sectors, level)| f64::from(sectors) / f64::from(8 - level))
            .collect();
        let (least, most) = shares.iter().fold((f64::MAX, 0.0_f64), |(least, most), &share| {
            (least.min(share), most.max(share))
        });
        let smallest = levels.iter().map(|level| 8 - level).min().expect("a level");
        // The first slots have the budget of a new queue, which is above the largest budget here.
        let bound = 2.0 * f64::from(MAX_BUDGET.max(10_922)) / f64::from(smallest);
        prop_assert!(most - least <= bound, "{:?} of {:?}", shares, levels);
    }
}
