//! Tests of generating, sorting and validating rows.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_records::terasort::{
    GenerateJob, InvalidJob, Outcome, ROW_BYTES, SortJob, SortOutcome, ValidateJob, generate,
    min_memory, sort, validate,
};
use iostudy_records::{Error, Fault};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

const MIB: u64 = 1 << 20;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempdir().unwrap());
        fs::create_dir(place.path("spill-0")).unwrap();
        fs::create_dir(place.path("spill-1")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn generating(&self, rows: u64, parts: usize) -> GenerateJob {
        GenerateJob {
            output: self.path("in"),
            rows,
            parts,
            threads: 2,
            direct: false,
            fsync: false,
        }
    }

    fn sorting(&self, rows: u64) -> SortJob {
        SortJob {
            input: self.path("in"),
            output: self.path("out"),
            rows,
            memory: 32 * MIB,
            spill: vec![self.path("spill-0"), self.path("spill-1")],
            reducers: 3,
            threads: 2,
            direct: false,
            fsync: false,
        }
    }

    fn validated(&self) -> Result<Outcome, Error> {
        let input = self.path("out");
        let (threads, direct) = (2, false);
        let job = ValidateJob {
            input,
            threads,
            direct,
        };
        validate(&job, &mut |_| true)
    }

    /// The bytes of all parts in their order.
    fn content(&self, folder: &str) -> Vec<u8> {
        let mut paths: Vec<PathBuf> = fs::read_dir(self.path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| name(path).starts_with("part-"))
            .collect();
        paths.sort();
        paths
            .iter()
            .flat_map(|path| fs::read(path).unwrap())
            .collect()
    }

    fn is_clean(&self) -> bool {
        let no_files = |folder| fs::read_dir(self.path(folder)).unwrap().next().is_none();
        no_files("spill-0") && no_files("spill-1") && !self.path("out").exists()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn generated(job: &GenerateJob) -> Outcome {
    generate(job, &mut |_| true).unwrap()
}

fn sorted(job: &SortJob) -> SortOutcome {
    sort(job, &mut |_| true).unwrap()
}

fn rows(content: &[u8]) -> Vec<&[u8]> {
    content.chunks(ROW_BYTES).collect()
}

fn by_key(content: &[u8]) -> Vec<&[u8]> {
    let mut rows = rows(content);
    rows.sort_by_key(|row| &row[..10]);
    rows
}

#[track_caller]
fn wrong<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (PathBuf, String) {
    match outcome.unwrap_err() {
        Error::Fault(Fault::InvalidData { path, found }) => (path, found),
        other => panic!("{other}"),
    }
}

/// `TeraGen 1000` and `TeraChecksum` of Hadoop 3.4.2 give this checksum.
#[test]
fn the_checksum_is_that_of_hadoop_for_any_number_of_parts() {
    for parts in [1, 7, 1001] {
        let place = Place::new();
        let made = generated(&place.generating(1000, parts));
        assert_eq!(made.checksum.unwrap().to_string(), "1f9ffe645ec");
        assert_eq!(made.call_stats.written_bytes, 100_000);
        assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), parts + 1);
    }
}

#[test]
fn parts_together_hold_the_same_rows_however_many_there_are() {
    let (one, many) = (Place::new(), Place::new());
    generated(&one.generating(12_345, 1));
    generated(&many.generating(12_345, 10));
    assert!(one.content("in") == many.content("in"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn the_output_is_a_sorted_permutation_of_the_input(
        count in 1u64..80_000,
        parts in 1usize..5,
        reducers in 1usize..9,
        threads in 1usize..4,
        spills in 1usize..3,
        direct: bool,
        equal_bytes in 0u8..3,
        spare in 0u64..8,
    ) {
        let place = Place::new();
        generated(&GenerateJob { direct, ..place.generating(count, parts) });
        if equal_bytes > 0 {
            equalize_keys(&place, equal_bytes);
        }
        let mut job = SortJob { reducers, threads, direct, ..place.sorting(count) };
        job.spill.truncate(spills);
        job.memory = min_memory(count, threads, reducers) + spare * MIB;
        let result = sorted(&job);
        let (input, output) = (place.content("in"), place.content("out"));
        prop_assert!(rows(&output) == by_key(&input));
        prop_assert_eq!(result.outcome.call_stats.written_bytes, 2 * input.len() as u64);
        prop_assert_eq!(result.spilled_bytes.iter().sum::<u64>(), input.len() as u64);
        let found = place.validated().unwrap();
        prop_assert_eq!((found.rows, found.checksum), (count, result.outcome.checksum));
        prop_assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), reducers + 1);
        prop_assert!(fs::read_dir(place.path("spill-0")).unwrap().next().is_none());
    }
}

/// Overwrite key bytes so that most keys are equal: the hardest case for samples and ranges.
fn equalize_keys(place: &Place, equal_bytes: u8) {
    for entry in fs::read_dir(place.path("in")).unwrap() {
        let path = entry.unwrap().path();
        let mut content = fs::read(&path).unwrap();
        for row in content.chunks_mut(ROW_BYTES) {
            let kept = usize::from(equal_bytes - 1);
            row[kept..10].fill(0xFF);
        }
        fs::write(&path, content).unwrap();
    }
}

#[test]
fn many_runs_are_merged_in_little_memory() {
    let (place, count) = (Place::new(), 500_000);
    let made = generated(&place.generating(count, 3));
    let job = SortJob {
        memory: min_memory(count, 1, 1),
        reducers: 1,
        threads: 1,
        ..place.sorting(count)
    };
    let result = sorted(&job);
    assert!(
        result
            .spilled_bytes
            .iter()
            .all(|bytes| *bytes >= 10_000_000)
    );
    assert!(result.memory_bytes < count * 100 / 4);
    assert_eq!(result.outcome.checksum, made.checksum);
    assert_eq!(place.validated().unwrap().checksum, made.checksum);
}

#[test]
fn parts_have_rows_in_about_equal_shares() {
    let place = Place::new();
    generated(&place.generating(100_000, 1));
    sorted(&SortJob {
        reducers: 4,
        ..place.sorting(100_000)
    });
    for part in 0..4 {
        let path = place.path(&format!("out/part-r-0000{part}"));
        let share = fs::metadata(path).unwrap().len();
        assert!((2_000_000..3_000_000).contains(&share), "{share}");
    }
}

#[test]
fn the_first_misplaced_row_is_reported_with_both_keys() {
    let place = Place::new();
    generated(&place.generating(1000, 1));
    sorted(&place.sorting(1000));
    let path = place.path("out/part-r-00001");
    let mut content = fs::read(&path).unwrap();
    content[700..710].fill(0x00);
    fs::write(&path, &content).unwrap();
    let (place_of_fault, found) = wrong(place.validated());
    assert_eq!(place_of_fault, path);
    assert!(found.contains("row 7 (from 0) has the key 00 00 00 00 00 00 00 00 00 00"));
    content[..10].fill(0x01);
    fs::write(&path, &content).unwrap();
    let (_, found) = wrong(place.validated());
    assert!(
        found.contains("row 0 (from 0) has the key 01 01 01"),
        "{found}"
    );
}

#[test]
fn swapped_parts_are_out_of_order() {
    let place = Place::new();
    generated(&place.generating(1000, 1));
    sorted(&place.sorting(1000));
    fs::rename(
        place.path("out/part-r-00000"),
        place.path("out/part-r-00009"),
    )
    .unwrap();
    let (path, found) = wrong(place.validated());
    assert_eq!(name(&path), "part-r-00009");
    assert!(found.contains("row 0"));
}

#[test]
fn a_changed_byte_changes_the_checksum() {
    let place = Place::new();
    let made = generated(&place.generating(1000, 1));
    sorted(&place.sorting(1000));
    let path = place.path("out/part-r-00002");
    let mut content = fs::read(&path).unwrap();
    content[99] ^= 1;
    fs::write(&path, content).unwrap();
    assert_ne!(place.validated().unwrap().checksum, made.checksum);
}

#[test]
fn invalid_jobs_are_refused_without_side_effects() {
    let place = Place::new();
    let job = place.sorting(10);
    let zero = |name| Err(InvalidJob::Zero { name });
    assert_eq!(place.generating(0, 1).validate(), zero("rows"));
    assert_eq!(place.generating(1, 0).validate(), zero("parts"));
    let (rows, reducers) = (0, 0);
    assert_eq!(
        SortJob {
            rows,
            ..job.clone()
        }
        .validate(),
        zero("rows")
    );
    assert_eq!(
        SortJob {
            reducers,
            ..job.clone()
        }
        .validate(),
        zero("reducers")
    );
    let spill = Vec::new();
    let none = SortJob {
        spill,
        ..job.clone()
    }
    .validate();
    assert_eq!(none, Err(InvalidJob::NoSpillFolders));
    let memory = min_memory(10, 2, 3) - MIB;
    let refused = SortJob { memory, ..job }
        .validate()
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("2 threads that sort 10 rows need at least"),
        "{refused}"
    );
}

#[test]
fn invalid_input_is_an_error() {
    let place = Place::new();
    generated(&place.generating(1000, 2));
    let (path, found) = wrong(sort(&place.sorting(999), &mut |_| true));
    assert_eq!(
        (path, found.as_str()),
        (place.path("in"), "holds 1000 rows, not 999")
    );
    let part = place.path("in/part-m-00001");
    let file = fs::File::options().write(true).open(&part).unwrap();
    file.set_len(12_345).unwrap();
    let (path, found) = wrong(sort(&place.sorting(1000), &mut |_| true));
    assert_eq!(path, part);
    assert_eq!(
        found,
        "has 12345 bytes, not a multiple of the row size of 100 bytes"
    );
    assert!(place.is_clean());
}

#[test]
fn input_truncated_during_the_sort_is_an_error_and_nothing_remains() {
    let place = Place::new();
    generated(&place.generating(3_000_000, 1));
    let part = place.path("in/part-m-00000");
    let mut cut = |done: u64| {
        if done > 0 {
            let file = fs::File::options().write(true).open(&part).unwrap();
            file.set_len(100).unwrap();
        }
        true
    };
    let (path, found) = wrong(sort(&place.sorting(3_000_000), &mut cut));
    assert_eq!(path, part);
    assert!(found.starts_with("ends at byte "), "{found}");
    assert!(place.is_clean());
}

#[test]
fn a_stopped_sort_leaves_nothing() {
    let place = Place::new();
    generated(&place.generating(2_000_000, 1));
    let outcome = sort(&place.sorting(2_000_000), &mut |done| done < 1_000_000);
    assert!(matches!(outcome, Err(Error::Stopped)));
    assert!(place.is_clean());
}

#[test]
fn missing_and_existing_folders_are_errors() {
    let place = Place::new();
    generated(&place.generating(1000, 1));
    let spill = vec![place.path("nowhere")];
    let job = SortJob {
        spill,
        ..place.sorting(1000)
    };
    let reported = sort(&job, &mut |_| true).unwrap_err().to_string();
    assert!(
        reported.contains("nowhere/.spill-") && reported.contains("open"),
        "{reported}"
    );
    assert!(place.is_clean());
    sorted(&place.sorting(1000));
    let reported = sort(&place.sorting(1000), &mut |_| true)
        .unwrap_err()
        .to_string();
    assert!(reported.contains("out: mkdir"), "{reported}");
    assert_eq!(place.validated().unwrap().rows, 1000);
}

#[test]
fn progress_counts_bytes_over_all_phases() {
    let place = Place::new();
    generated(&place.generating(1_500_000, 1));
    let mut reported = vec![0];
    let result = sort(&place.sorting(1_500_000), &mut |done| {
        reported.push(done);
        true
    });
    let call_stats = result.unwrap().outcome.call_stats;
    assert!(reported.is_sorted());
    let last = reported[reported.len() - 1];
    assert!(last > 300_000_000, "{last}");
    assert!(last <= call_stats.read_bytes + call_stats.written_bytes);
}
