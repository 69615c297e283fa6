//! Restriction of system calls by seccomp: [`calls`] are allowed, some only with certain arguments.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::path::Path;
use std::process;

use libc::*;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule,
};

use super::{calls, files};

/// A file that exists if the kernel supports seccomp.
const ACTIONS: &str = "/proc/sys/kernel/seccomp/actions_avail";

/// Calls that fail as forbidden rather than as unknown, so that programs report a meaningful error.
const FORBIDDEN: &[c_long] = &[
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_sendto,
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    SYS_setsid,
    SYS_setpgid,
    SYS_ptrace,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_prlimit64,
    SYS_setrlimit,
    #[cfg(target_arch = "x86_64")]
    SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    SYS_chown,
    #[cfg(target_arch = "x86_64")]
    SYS_fork,
    #[cfg(target_arch = "x86_64")]
    SYS_vfork,
];

/// Returns the reason if the kernel does not support seccomp.
pub fn unsupported_reason() -> Option<String> {
    (!Path::new(ACTIONS).exists()).then(|| {
        format!(
            "this Linux has no seccomp (there is no {ACTIONS}): a program's network and processes cannot be \
             restricted"
        )
    })
}

/// Restricts this thread and its children.
pub fn restrict(processes: bool) -> Result<(), Error> {
    let allowed = allowed(processes)?;
    // If two filters refuse a call, the later one determines the error.
    let forbidden = FORBIDDEN.iter().filter(|call| !allowed.contains_key(call));
    let mut forbidden: Calls = forbidden.map(|&call| (call, Vec::new())).collect();
    if !processes {
        let process = argument_rule(0, MaskedEq(CLONE_THREAD as u64), 0)?;
        forbidden.insert(SYS_clone, vec![process]);
    }
    let unknown = SeccompAction::Errno(ENOSYS as u32);
    let refused = SeccompAction::Errno(EPERM as u32);
    apply(allowed, unknown, SeccompAction::Allow)?;
    apply(forbidden, SeccompAction::Allow, refused)
}

type Calls = BTreeMap<c_long, Vec<SeccompRule>>;

fn apply(calls: Calls, default: SeccompAction, action: SeccompAction) -> Result<(), Error> {
    let filter = SeccompFilter::new(calls, default, action, ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}

/// Returns the allowed calls, either with any arguments or with those that match a rule.
fn allowed(processes: bool) -> Result<Calls, BackendError> {
    let mut free = vec![calls::ALLOWED, calls::ALLOWED_ARCH];
    if processes {
        free.extend([calls::FOR_BUILDERS, calls::FOR_BUILDERS_ARCH]);
    }
    let free = free.into_iter().flatten();
    let mut calls: Calls = free.map(|&call| (call, Vec::new())).collect();

    // Truncation requires a file that is opened for writing.
    for (call, flags) in [
        (SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (SYS_open, 1),
    ] {
        let keeps_contents = argument_rule(flags, MaskedEq(O_TRUNC as u64), 0)?;
        let writes = argument_rule(flags, MaskedEq(O_ACCMODE as u64), O_WRONLY as u64)?;
        let reads_and_writes = argument_rule(flags, MaskedEq(O_ACCMODE as u64), O_RDWR as u64)?;
        calls.insert(call, vec![keeps_contents, writes, reads_and_writes]);
    }
    // Disallow injecting input into an inherited terminal.
    let differs_from = |request| condition(1, Ne, request);
    calls.insert(
        SYS_ioctl,
        vec![SeccompRule::new(vec![
            differs_from(TIOCSTI)?,
            differs_from(TIOCLINUX)?,
        ])?],
    );
    // Threads are always allowed, processes only if the rules say so, and new namespaces never.
    let clone = match processes {
        true => argument_rule(0, MaskedEq(NAMESPACES), 0)?,
        false => argument_rule(0, MaskedEq(CLONE_THREAD as u64), CLONE_THREAD as u64)?,
    };
    calls.insert(SYS_clone, vec![clone]);
    // Allow pairs of sockets that are connected only to each other.
    if processes {
        calls.insert(SYS_socketpair, vec![argument_rule(0, Eq, AF_UNIX as u64)?]);
    }
    // Reading its own limits is allowed; lowering those of children only if processes are.
    let mut conditions = vec![condition(0, Eq, 0)?];
    if !processes {
        conditions.push(SeccompCondition::new(2, SeccompCmpArgLen::Qword, Eq, 0)?);
    }
    calls.insert(SYS_prlimit64, vec![SeccompRule::new(conditions)?]);
    // Allow signals to the process itself, which `abort` needs; Landlock limits signals to others to its own
    // children.
    for call in [SYS_kill, SYS_tgkill] {
        let rules = match files::restricts_signals() {
            true => Vec::new(),
            false => vec![argument_rule(0, Eq, u64::from(process::id()))?],
        };
        calls.insert(call, rules);
    }
    Ok(calls)
}

/// `TIOCLINUX`, which pastes text into a console.
const TIOCLINUX: u64 = 0x541C;

/// `TIOCSTI`, which injects input into a terminal.
const TIOCSTI: u64 = 0x5412;

/// The flags that create namespaces.
const NAMESPACES: u64 = (CLONE_NEWNS
    | CLONE_NEWCGROUP
    | CLONE_NEWUTS
    | CLONE_NEWIPC
    | CLONE_NEWUSER
    | CLONE_NEWPID
    | CLONE_NEWNET) as u64;

/// Returns a rule that compares an argument with a number.
fn argument_rule(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}

/// Returns a condition on the lower half of an argument, the only half that the kernel reads unless it is an
/// address.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
