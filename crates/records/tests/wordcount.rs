//! Tests of word counting against a reference map.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use iostudy_records::wordcount::{
    CountJob, CountResult, InvalidCountJob, TextJob, WordSummary, count, generate,
};
use iostudy_records::{Error, Fault};
use proptest::prelude::*;
use tempfile::TempDir;

const MIB: usize = 1 << 20;

type Counts = BTreeMap<Vec<u8>, u64>;

/// A folder with texts, and a job to count them.
struct Place {
    folder: TempDir,
    job: CountJob,
}

impl Place {
    fn with(texts: &[&[u8]]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |(number, text): (usize, &&[u8])| {
            let path = path(&format!("text-{number}"));
            fs::write(&path, text).unwrap();
            path
        };
        let inputs = texts.iter().enumerate().map(write).collect();
        let spill = vec![path("spill-a"), path("spill-b")];
        for spill in &spill {
            fs::create_dir(spill).unwrap();
        }
        let job = CountJob {
            inputs,
            output: path("out"),
            spill,
            memory_bytes: 2 * MIB,
            threads: 2,
            reducers: 3,
            fsync: false,
            expected: None,
        };
        Self { folder, job }
    }

    fn count(&self) -> Result<CountResult, Error> {
        count(&self.job, &mut |_| true)
    }

    /// The output, each part in its order.
    fn parts(&self) -> Vec<Vec<(Vec<u8>, u64)>> {
        let part = |number| self.job.output.join(format!("part-r-{number:05}"));
        (0..self.job.reducers)
            .map(|number| lines(&part(number)))
            .collect()
    }

    /// Nothing is left of spills.
    fn has_no_spills(&self) -> bool {
        let empty = |folder: &PathBuf| fs::read_dir(folder).unwrap().next().is_none();
        self.job.spill.iter().all(empty)
    }
}

fn lines(path: &Path) -> Vec<(Vec<u8>, u64)> {
    let text = fs::read(path).unwrap();
    let line = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
        let count = std::str::from_utf8(&line[tab + 1..])
            .unwrap()
            .parse()
            .unwrap();
        (line[..tab].to_vec(), count)
    };
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|with_end| line(&with_end[..with_end.len() - 1]))
        .collect()
}

fn reference(texts: &[&[u8]]) -> Counts {
    let mut counts = Counts::new();
    for text in texts {
        for word in text.split(|byte| b" \t\n\r\x0c".contains(byte)) {
            if !word.is_empty() {
                *counts.entry(word.to_vec()).or_default() += 1;
            }
        }
    }
    counts
}

/// Count and compare with the reference.
fn check(place: &Place, texts: &[&[u8]]) -> CountResult {
    let result = place.count().unwrap();
    let parts = place.parts();
    for part in &parts {
        assert!(part.is_sorted_by(|one, next| one.0 < next.0));
    }
    let expected = reference(texts);
    assert_eq!(result.distinct_words, expected.len() as u64);
    assert_eq!(result.summary.words, expected.values().sum::<u64>());
    assert_eq!(
        result.text_bytes,
        texts.iter().map(|text| text.len() as u64).sum::<u64>()
    );
    assert_eq!(Counts::from_iter(parts.concat()), expected);
    assert!(place.job.output.join("_SUCCESS").exists());
    assert!(place.has_no_spills());
    result
}

fn found(error: Error) -> String {
    match error {
        Error::Fault(Fault::InvalidData { found, .. }) => found,
        other => panic!("{other}"),
    }
}

/// Words of a few letters, most of them different.
fn numbers(from: u32, to: u32) -> Vec<u8> {
    let words: Vec<String> = (from..to).map(|number| number.to_string()).collect();
    words.join(" ").into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_counted_as_a_map_counts_them(
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..4),
        reducers in 1..6_usize,
        threads in 1..4_usize,
    ) {
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let mut place = Place::with(&texts);
        place.job.reducers = reducers;
        place.job.threads = threads;
        place.job.memory_bytes = threads * MIB;
        check(&place, &texts);
    }
}

#[test]
fn words_beyond_the_memory_are_spilled_and_merged() {
    let texts = [numbers(0, 100_000), numbers(50_000, 150_000)];
    let texts = [texts[0].as_slice(), texts[1].as_slice()];
    let place = Place::with(&texts);
    let result = check(&place, &texts);
    assert!(result.runs > 10, "{}", result.runs);
    assert!(result.spilled_bytes > 1_000_000, "{}", result.spilled_bytes);
    let part = |number| place.job.output.join(format!("part-r-{number:05}"));
    let output = (0..3).map(|number| fs::metadata(part(number)).unwrap().len());
    assert_eq!(
        result.call_stats.written_bytes,
        result.spilled_bytes + output.sum::<u64>()
    );
}

#[test]
fn long_words_make_merging_take_several_passes() {
    let word = |letter: u8| [&vec![letter; 60_000][..], b" "].concat();
    let text = (b'A'..=b'z')
        .cycle()
        .take(150)
        .flat_map(word)
        .collect::<Vec<u8>>();
    let mut place = Place::with(&[&text]);
    place.job.reducers = 1;
    let result = check(&place, &[&text]);
    assert!(
        result.spilled_bytes > 2 * 58 * 60_000,
        "{}",
        result.spilled_bytes
    );
}

#[test]
fn a_word_longer_than_any_buffer_is_one_word() {
    let giant = [b"first ".to_vec(), vec![b'x'; 3 * MIB], b" last".to_vec()].concat();
    let mut place = Place::with(&[&giant]);
    place.job.memory_bytes = 40 * MIB;
    place.job.threads = 1;
    check(&place, &[&giant]);
}

#[test]
fn a_word_beyond_the_memory_is_an_error() {
    let giant = vec![b'x'; MIB];
    let place = Place::with(&[&giant]);
    let found = found(place.count().unwrap_err());
    assert!(
        found.contains("a word of more than 98304 bytes at byte 0"),
        "{found}"
    );
    assert!(!place.job.output.exists());
    assert!(place.has_no_spills());
}

#[test]
fn empty_texts_have_no_words() {
    let texts: [&[u8]; 3] = [b"", b" \n\t ", b""];
    let result = check(&Place::with(&texts), &texts);
    assert_eq!((result.runs, result.summary), (0, WordSummary::default()));
}

#[test]
fn words_across_splits_are_counted_once() {
    let text = b"seventeen letters ".repeat(20 * MIB / 18);
    check(&Place::with(&[&text]), &[&text]);
}

#[test]
fn generated_text_has_the_returned_summary() {
    let mut place = Place::with(&[]);
    let job = TextJob {
        folder: place.folder.path().join("text"),
        bytes: 5_000_001,
        files: 3,
        vocabulary: 10_000,
        exponent: 1.0,
        seed: 7,
        threads: 2,
    };
    place.job.expected = Some(generate(&job, &mut |_| true).unwrap());
    place.job.inputs = (0..3)
        .map(|part| job.folder.join(format!("part-m-{part:05}")))
        .collect();
    let texts: Vec<Vec<u8>> = place
        .job
        .inputs
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    assert_eq!(
        [1_666_667; 3],
        [0, 1, 2].map(|part: usize| texts[part].len())
    );
    let lines: Vec<&[u8]> = texts[0].split(|byte| *byte == b'\n').collect();
    assert!(lines.iter().all(|line| line.len() < 100));
    let long = lines.iter().filter(|line| line.len() > 80).count();
    assert!(long > lines.len() * 9 / 10, "{long} of {}", lines.len());
    let unlike: HashSet<&[u8]> = lines.iter().copied().collect();
    assert!(
        unlike.len() > lines.len() * 9 / 10,
        "lines are drawn, not repeated"
    );
    check(&place, &texts.iter().map(Vec::as_slice).collect::<Vec<_>>());

    let again = TextJob {
        folder: place.folder.path().join("again"),
        threads: 1,
        ..job
    };
    assert_eq!(
        Some(generate(&again, &mut |_| true).unwrap()),
        place.job.expected
    );
    assert_eq!(
        fs::read(again.folder.join("part-m-00001")).unwrap(),
        texts[1]
    );
}

#[test]
fn a_text_with_another_word_than_was_made_is_found() {
    let mut place = Place::with(&[b"a b c"]);
    place.job.expected = Some(place.count().unwrap().summary);
    fs::write(&place.job.inputs[0], "a b d").unwrap();
    place.job.output = place.folder.path().join("again");
    let found = found(place.count().unwrap_err());
    assert!(found.contains("3 words"), "{found}");
}

#[test]
fn a_text_cut_while_it_is_read_is_found() {
    let text = numbers(0, 3_000_000);
    let place = Place::with(&[&text]);
    let half = text.len() as u64 / 2;
    let mut cut = |_| {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(&place.job.inputs[0]);
        file.unwrap().set_len(half).is_ok()
    };
    let found = found(count(&place.job, &mut cut).unwrap_err());
    let before = format!("it had {} bytes when the job began", text.len());
    assert!(found.starts_with("ends at byte"), "{found}");
    assert!(found.ends_with(&before), "{found}");
    assert!(!place.job.output.exists());
}

#[test]
fn a_job_that_is_stopped_leaves_nothing() {
    let text = numbers(0, 2_000_000);
    let place = Place::with(&[&text]);
    assert!(matches!(
        count(&place.job, &mut |_| false),
        Err(Error::Stopped)
    ));
    assert!(!place.job.output.exists());
    assert!(place.has_no_spills());
}

#[test]
fn a_spill_folder_that_is_not_there_is_named() {
    let place = Place::with(&[b"a"]);
    fs::remove_dir(&place.job.spill[1]).unwrap();
    let Err(Error::Fault(Fault::Io { path, .. })) = place.count() else {
        panic!("it was not needed");
    };
    assert!(path.starts_with(&place.job.spill[1]));
}

#[test]
fn invalid_jobs_are_refused() {
    let job = Place::with(&[b"a"]).job;
    let little = CountJob {
        memory_bytes: 2 * MIB - 1,
        ..job.clone()
    };
    assert!(
        matches!(little.validate(), Err(InvalidCountJob::Memory { least, .. }) if least == 2 * MIB)
    );
    let nothing = CountJob {
        inputs: vec![],
        ..job.clone()
    };
    assert_eq!(
        nothing.validate(),
        Err(InvalidCountJob::None { name: "inputs" })
    );
    let none = CountJob { reducers: 0, ..job };
    assert_eq!(
        none.validate(),
        Err(InvalidCountJob::Zero { name: "reducers" })
    );
}
