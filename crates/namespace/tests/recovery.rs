//! What was acknowledged is there again: after kill -9, and whatever byte of the log is lost.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use iostudy_namespace::{Error, Log, Mutation, Namespace, Order, Sync, Tree, Waits, recover};
use proptest::prelude::*;

const CHILD: &str = "IOSTUDY_NAMESPACE_CHILD";
const AT_ONCE: u64 = 64;

fn log(directories: Vec<PathBuf>) -> Log {
    Log {
        directories,
        order: Order::Parallel,
        sync: Sync::Fdatasync,
        preallocate: 1 << 16,
        record_bytes: 0,
        batch_records: 0,
        batch_wait: Duration::ZERO,
    }
}

/// The mutation that is transaction `number`, for any number: each can be done after those before.
fn mutation<'a>(number: u64, path: &'a mut String, name: &'a mut String) -> Mutation<'a> {
    let file = if number % 4 < 2 { number } else { number - 2 };
    *path = format!("/f{file}");
    *name = format!("r{file}");
    match number % 4 {
        0 | 1 => Mutation::Create {
            path,
            at_ms: number,
        },
        2 => Mutation::Rename {
            path,
            name,
            at_ms: number,
        },
        _ => Mutation::Delete { path },
    }
}

/// The tree after the transactions `1..=last`; those of the first quadruple begin with 4.
fn tree_after(last: u64) -> Tree {
    let mut tree = Tree::default();
    for number in 1..=last {
        tree.apply(&mutation(
            number + 3,
            &mut String::new(),
            &mut String::new(),
        ))
        .unwrap();
    }
    tree
}

/// Go on from what is there, and tell each transaction on stdout once it is acknowledged.
fn serve(directories: Vec<PathBuf>, last: u64) {
    let namespace = if last == 0 {
        Namespace::format(log(directories)).unwrap()
    } else {
        Namespace::open(log(directories)).unwrap()
    };
    let (mut told, mut waits) = (last, Waits::default());
    let mut out = std::io::stdout().lock();
    for number in last + 1.. {
        let (mut path, mut name) = (String::new(), String::new());
        let changed = namespace.change(&mutation(number + 3, &mut path, &mut name), &mut waits);
        assert_eq!(changed.unwrap(), number);
        if number % 777 == 0 {
            namespace.checkpoint().unwrap();
        }
        let at_least = number.saturating_sub(AT_ONCE);
        let durable = namespace
            .wait_for(at_least, Duration::from_secs(60), &mut waits)
            .unwrap();
        while told < durable {
            told += 1;
            out.write_all(&told.to_le_bytes()).unwrap();
        }
    }
}

/// What the child runs: the test that started it sees to it that it is killed.
#[test]
fn child() {
    if let Ok(asked) = env::var(CHILD) {
        let (last, directories) = asked.split_once(':').unwrap();
        serve(
            directories.split(',').map(PathBuf::from).collect(),
            last.parse().unwrap(),
        );
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_9_and_nothing_is_invented() {
    kill_again_and_again(10);
}

#[test]
#[ignore = "takes minutes: make crash"]
fn nothing_acknowledged_is_lost_by_kill_9_two_hundred_times() {
    kill_again_and_again(200);
}

fn kill_again_and_again(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let directories = [folder.path().join("a"), folder.path().join("b")];
    let mut random = 0x5eed_u64;
    let (mut last, mut most) = (0, 0);
    for _ in 0..kills {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        let acknowledged = last + kill_after(&directories, last, (random >> 33) % 3000);
        let recovered = recover(&directories).unwrap();
        assert!(
            recovered.last >= acknowledged,
            "{} < {acknowledged}",
            recovered.last
        );
        assert!(
            recovered.last <= acknowledged + 4 * AT_ONCE,
            "{} invented",
            recovered.last
        );
        assert_eq!(recovered.tree.digest(), tree_after(recovered.last).digest());
        (last, most) = (recovered.last, most.max(recovered.last - acknowledged));
    }
    println!("{kills} kills, {last} transactions, at most {most} beyond what was acknowledged");
}

/// Start a child that goes on from `last`, and kill it when it has told so many transactions; how
/// many it had told by then.
fn kill_after(directories: &[PathBuf], last: u64, transactions: u64) -> u64 {
    let named: Vec<_> = directories
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--quiet"])
        .env(CHILD, format!("{last}:{}", named.join(",")))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let begin = last + 1;
    let mut told = Vec::new();
    let mut piece = [0; 4096];
    while count(&told, begin) < transactions {
        let read = out.read(&mut piece).unwrap();
        assert!(read > 0, "the child ended by itself");
        told.extend_from_slice(&piece[..read]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    out.read_to_end(&mut told).unwrap();
    count(&told, begin)
}

/// How many transactions from `begin` on were told; the test harness prints a few lines before.
fn count(told: &[u8], begin: u64) -> u64 {
    let first = begin.to_le_bytes();
    let Some(at) = told.windows(8).position(|window| window == first) else {
        return 0;
    };
    ((told.len() - at) / 8) as u64
}

/// A closed log of some batches in each directory, its segment still in progress.
fn written(folder: &Path, copies: usize, transactions: u64) -> Vec<PathBuf> {
    let directories: Vec<_> = (0..copies)
        .map(|copy| folder.join(copy.to_string()))
        .collect();
    let namespace = Namespace::format(log(directories.clone())).unwrap();
    let mut waits = Waits::default();
    for number in 1..=transactions {
        let (mut path, mut name) = (String::new(), String::new());
        namespace
            .change(&mutation(number + 3, &mut path, &mut name), &mut waits)
            .unwrap();
        if number % 5 == 0 {
            namespace
                .wait_for(number, Duration::from_secs(60), &mut waits)
                .unwrap();
        }
    }
    namespace
        .wait_for(transactions, Duration::from_secs(60), &mut waits)
        .unwrap();
    drop(namespace);
    directories
}

/// What lies where its next segment would begin keeps a checkpoint from going on.
#[test]
fn after_a_checkpoint_that_failed_nothing_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("log");
    let namespace = Namespace::format(log(vec![directory.clone()])).unwrap();
    let change = |number| change(&namespace, number);
    assert_eq!(change(1).unwrap(), 1);
    fs::write(directory.join("edits-inprogress-2"), "").unwrap();
    let told = namespace.checkpoint().unwrap_err().to_string();
    assert!(told.contains("edits-inprogress-2"), "{told}");
    let told = change(2).unwrap_err().to_string();
    assert!(told.contains("edits-inprogress-2"), "{told}");
    assert_eq!(namespace.dropped()[0].transaction, 2);
    fs::remove_file(directory.join("edits-inprogress-2")).unwrap();
    assert_eq!(recover(&[directory]).unwrap().last, 1);
}

/// Where a checkpoint cannot begin a segment, write an image, or end a segment, the copy is dropped.
#[test]
fn a_checkpoint_that_fails_in_one_of_two_directories_goes_on_in_the_other() {
    for in_the_way in ["edits-inprogress-2", "image-1"] {
        let folder = tempfile::tempdir().unwrap();
        let directories = [0, 1].map(|copy| folder.path().join(copy.to_string()));
        let namespace = Namespace::format(log(directories.to_vec())).unwrap();
        let change = |number| change(&namespace, number);
        assert_eq!(change(1).unwrap(), 1);
        fs::create_dir(directories[0].join(in_the_way)).unwrap();
        namespace.checkpoint().unwrap();
        assert_eq!(change(2).unwrap(), 2);
        namespace.checkpoint().unwrap();
        assert_eq!(change(3).unwrap(), 3);
        let dropped = namespace.dropped();
        assert_eq!(dropped.len(), 1, "{dropped:?}");
        assert_eq!(dropped[0].directory, directories[0]);
        assert_eq!(dropped[0].transaction, 2);
        let (tree, at_the_end) = namespace.close().unwrap();
        assert_eq!(at_the_end, dropped);
        let obstacle = directories[0].join(in_the_way);
        fs::remove_dir(obstacle).unwrap();
        for found in [&directories[1..], &directories] {
            let recovered = recover(found).unwrap();
            assert_eq!(recovered.last, 3);
            assert_eq!(recovered.tree.digest(), tree.digest());
        }
    }
}

/// A copy that was dropped by a checkpoint is no copy that is left when the other one fails.
#[test]
fn after_the_last_of_two_directories_nothing_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let directories = [0, 1].map(|copy| folder.path().join(copy.to_string()));
    let namespace = Namespace::format(log(directories.to_vec())).unwrap();
    assert_eq!(change(&namespace, 1).unwrap(), 1);
    fs::create_dir(directories[0].join("image-1")).unwrap();
    namespace.checkpoint().unwrap();
    fs::remove_dir_all(&directories[1]).unwrap();
    assert!(matches!(namespace.checkpoint(), Err(Error::NoLogLeft(_))));
    assert!(change(&namespace, 2).is_err());
    assert_eq!(namespace.dropped().len(), 2);
    assert!(matches!(namespace.close(), Err(Error::NoLogLeft(_))));
}

/// Do the transaction of that number, and wait until it is acknowledged.
fn change(namespace: &Namespace, number: u64) -> Result<u64, Error> {
    let (mut path, mut name) = (String::new(), String::new());
    let mut waits = Waits::default();
    let mutation = mutation(number + 3, &mut path, &mut name);
    let transaction = namespace.change(&mutation, &mut waits).unwrap();
    namespace.wait_for(transaction, Duration::from_secs(60), &mut waits)
}

#[test]
fn a_copy_that_cannot_be_ended_is_dropped_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let directories = [0, 1].map(|copy| folder.path().join(copy.to_string()));
    let namespace = Namespace::format(log(directories.to_vec())).unwrap();
    fs::remove_dir_all(&directories[0]).unwrap();
    let (_, dropped) = namespace.close().unwrap();
    assert_eq!(dropped.len(), 1);
    assert_eq!(dropped[0].directory, directories[0]);
}

fn only_file(directory: &Path) -> PathBuf {
    let mut files = fs::read_dir(directory).unwrap();
    files.next().unwrap().unwrap().path()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_that_was_cut_anywhere_tells_a_beginning_of_what_was_done(at: prop::sample::Index) {
        let folder = tempfile::tempdir().unwrap();
        let directories = written(folder.path(), 1, 23);
        let file = only_file(&directories[0]);
        let bytes = fs::read(&file).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        fs::write(&file, &bytes[..at.index(used)]).unwrap();
        match recover(&directories) {
            Ok(found) => {
                prop_assert!(found.last < 23);
                prop_assert_eq!(found.tree.digest(), tree_after(found.last).digest());
                let named = found.torn.iter().all(|damage| damage.transaction == found.last + 1);
                prop_assert!(named);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn any_byte_that_changes_is_named_or_another_copy_has_it(at: prop::sample::Index, flip in 1..=255u8) {
        let folder = tempfile::tempdir().unwrap();
        let directories = written(folder.path(), 2, 23);
        let file = only_file(&directories[0]);
        let mut bytes = fs::read(&file).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        bytes[at.index(used)] ^= flip;
        fs::write(&file, &bytes).unwrap();
        let both = recover(&directories).unwrap();
        prop_assert_eq!((both.last, both.tree.digest()), (23, tree_after(23).digest()));
        match recover(&directories[..1]) {
            Err(Error::Damaged(damage)) => prop_assert!((1..=23).contains(&damage.transaction)),
            Ok(found) => {
                prop_assert_eq!(found.tree.digest(), tree_after(found.last).digest());
                prop_assert_eq!(found.torn.len(), 1);
                prop_assert_eq!(found.torn[0].transaction, found.last + 1);
                prop_assert!(found.last >= 18, "an older batch was lost without an error");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
