//! Whether a crew starts together, counts, and ends together.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use iostudy_crew::{Error, Halt, Member, nap, run};

#[test]
fn gives_what_each_member_made_in_order() {
    let made = run(
        3,
        |member: &Member<_, Infallible>| Ok(member.index() * 2),
        |_| true,
    );
    assert_eq!(made.unwrap(), [0, 2, 4]);
}

#[test]
fn nobody_starts_before_all_are_ready() {
    let prepared = AtomicUsize::new(0);
    let seen = run(
        4,
        |member: &Member<_, Infallible>| {
            std::thread::sleep(Duration::from_millis(5 * member.index() as u64));
            prepared.fetch_add(1, Ordering::SeqCst);
            member.ready();
            Ok(prepared.load(Ordering::SeqCst))
        },
        |_| true,
    );
    assert_eq!(seen.unwrap(), [4; 4]);
}

#[test]
fn the_first_fault_stops_everybody_and_is_told_with_its_member() {
    let work = |member: &Member<(), &'static str>| {
        member.ready();
        if member.index() == 1 {
            return Err(Halt::Fault("broken"));
        }
        loop {
            member.go_on()?;
        }
    };
    let Err(Error::Fault { member, fault }) = run(3, work, |_| true) else {
        panic!("a fault is told");
    };
    assert_eq!((member, fault), (1, "broken"));
}

#[test]
fn the_caller_hears_what_is_done_and_may_stop_it() {
    let mut heard = 0;
    let work = |member: &Member<(), Infallible>| {
        member.ready();
        member.has_done(21);
        loop {
            member.go_on()?;
        }
    };
    let outcome = run(2, work, |done| {
        heard = done;
        done < 42
    });
    assert!(matches!(outcome, Err(Error::Stopped)));
    assert_eq!(heard, 42);
}

#[test]
fn a_fault_before_ready_does_not_leave_the_others_waiting() {
    let work = |member: &Member<(), &'static str>| {
        if member.index() == 0 {
            return Err(Halt::Fault("no memory"));
        }
        member.ready();
        member.go_on()
    };
    assert!(matches!(
        run(2, work, |_| true),
        Err(Error::Fault { member: 0, .. })
    ));
}

#[test]
fn a_nap_is_as_long_as_asked_but_soon_over() {
    let (started, short) = (Instant::now(), Duration::from_millis(5));
    nap(short);
    assert!(started.elapsed() >= short);
    nap(Duration::MAX);
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_panic_before_ready_does_not_leave_the_others_waiting() {
    let work = |member: &Member<(), Infallible>| {
        assert_ne!(member.index(), 0, "this is the panic");
        member.ready();
        member.go_on()
    };
    let _ = run(2, work, |_| true);
}
