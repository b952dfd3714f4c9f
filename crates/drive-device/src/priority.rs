//! Real-time priority of the serving threads.

/// Priority of `SCHED_FIFO` of a serving thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Threads that take commands and copy data.
    Commands = 1,
    /// Threads that complete commands: copying does not delay it.
    Completions = 2,
}

/// Give this thread, and those that it starts, a real-time priority.
///
/// Returns whether the kernel allows it. Without it, a loaded host delays completions.
#[expect(unsafe_code, reason = "no crate here sets the policy of a thread")]
pub fn request_realtime(priority: Priority) -> bool {
    let parameters = libc::sched_param {
        sched_priority: priority as libc::c_int,
    };
    // SAFETY: the kernel only reads the structure; 0 is this thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}

/// Let timers of this thread expire without slack, which `SCHED_FIFO` implies.
#[expect(unsafe_code, reason = "no crate here sets the slack of timers")]
pub fn remove_timer_slack() {
    // SAFETY: the option takes one number. 1 ns is always allowed.
    let result = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    debug_assert_eq!(result, 0);
}
