//! Restriction of system calls by seccomp. The calls that are listed here are allowed, some only with certain arguments.
//!
//! Calls that are not listed fail as if the kernel did not know them, so that libraries fall back to older
//! calls. Unlisted calls include: sockets and interprocess messages; tracing and signalling other processes
//! (`ptrace`, `process_vm_*`, `pidfd_*`, `kcmp`); new sessions and process groups (`setsid`, `setpgid`), in
//! which a process would survive the termination of its group; changes of users, namespaces, mounts and keys;
//! programs in memory (`memfd_create`, `execveat`); file notifications (`inotify_*`); programs in the kernel
//! (`bpf`, `io_uring_*`); changing the owner and times of files, which Landlock does not restrict; priorities
//! of other processes; and all calls of 32-bit programs. `clone3`, whose flags no filter can read, is unlisted
//! too.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::path::Path;
use std::process;

use libc::*;
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCondition,
    SeccompFilter, SeccompRule,
};

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
    let mut clones: Vec<_> = NAMESPACES
        .iter()
        .map(|&flag| argument_rule(0, MaskedEq(flag as u64), flag as u64))
        .collect::<Result<_, _>>()?;
    if !processes {
        clones.push(argument_rule(0, MaskedEq(CLONE_THREAD as u64), 0)?);
    }
    forbidden.insert(SYS_clone, clones);
    let unknown = SeccompAction::Errno(ENOSYS as u32);
    let refused = SeccompAction::Errno(EPERM as u32);
    apply(allowed, unknown, SeccompAction::Allow)?;
    apply(forbidden, SeccompAction::Allow, refused)
}

/// Forbids this thread and its children to use files by name and to start programs.
pub fn forbid_named_files() -> Result<(), Error> {
    let named = [NAMED_FILES, NAMED_FILES_ARCH, OPENING, &[SYS_execve]];
    let calls = named.into_iter().flatten();
    let calls = calls.map(|&call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(EPERM as u32);
    apply(calls, SeccompAction::Allow, refused)
}

type Calls = BTreeMap<c_long, Vec<SeccompRule>>;

fn apply(calls: Calls, default: SeccompAction, action: SeccompAction) -> Result<(), Error> {
    let filter = SeccompFilter::new(calls, default, action, ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}

/// Returns the allowed calls, either with any arguments or with those that match a rule.
fn allowed(processes: bool) -> Result<Calls, BackendError> {
    let mut free = vec![ALLOWED, ALLOWED_ARCH, NAMED_FILES, NAMED_FILES_ARCH];
    if processes {
        free.extend([FOR_BUILDERS, FOR_BUILDERS_ARCH]);
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
    for (call, argument, values) in EXCEPTIONS {
        let conditions = values.iter().map(|&value| condition(*argument, Ne, value));
        let conditions = conditions.collect::<Result<_, _>>()?;
        calls.insert(*call, vec![SeccompRule::new(conditions)?]);
    }
    // Threads are always allowed, processes only if the rules say so, and new namespaces never.
    let namespaces = NAMESPACES.iter().fold(0, |all, flag| all | flag) as u64;
    let thread = CLONE_THREAD as u64;
    let clone = match processes {
        true => argument_rule(0, MaskedEq(namespaces), 0)?,
        false => argument_rule(0, MaskedEq(namespaces | thread), thread)?,
    };
    calls.insert(SYS_clone, vec![clone]);
    // The other processes must not show.
    for (call, argument) in OF_PROCESS {
        calls.insert(*call, vec![argument_rule(*argument, Eq, 0)?]);
    }
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
    // Allow signals to the process itself, which `abort` needs. If it may have children, Landlock limits signals
    // to others to those.
    let restricted = processes && super::restricts_signals();
    for call in [SYS_kill, SYS_tgkill] {
        let rules = match restricted {
            true => Vec::new(),
            false => vec![argument_rule(0, Eq, u64::from(process::id()))?],
        };
        calls.insert(call, rules);
    }
    Ok(calls)
}

/// Calls that are allowed unless an argument has one of these values.
const EXCEPTIONS: &[(c_long, u8, &[u64])] = &[
    // `TIOCSTI` and `TIOCLINUX` inject input into an inherited terminal; with `FIOSETOWN` and `SIOCSPGRP` a socket
    // signals other processes.
    (SYS_ioctl, 1, &[0x5412, 0x541C, 0x8901, 0x8902]),
    // With `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`, `F_SETLEASE` and `F_NOTIFY` a file signals processes.
    (SYS_fcntl, 1, &[8, 10, 15, 1024, 1026]),
    // `PR_SCHED_CORE` reveals whether another process exists.
    (SYS_prctl, 0, &[62]),
];

/// Calls that reveal whether a process exists, and the argument that names it, where 0 is the calling process.
const OF_PROCESS: &[(c_long, u8)] = &[
    (SYS_getpgid, 0),
    (SYS_getsid, 0),
    (SYS_getpriority, 1),
    (SYS_sched_getaffinity, 0),
    (SYS_sched_getparam, 0),
    (SYS_sched_getscheduler, 0),
    (SYS_get_robust_list, 0),
];

/// The flags of `clone` that create namespaces.
const NAMESPACES: &[c_int] = &[
    CLONE_NEWNS,
    CLONE_NEWCGROUP,
    CLONE_NEWUTS,
    CLONE_NEWIPC,
    CLONE_NEWUSER,
    CLONE_NEWPID,
    CLONE_NEWNET,
];

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

/// Builds a list of calls from names separated by whitespace.
macro_rules! calls {
    ($($call:ident)*) => { &[$($call),*] };
}

/// Calls that every program may make, with any arguments.
const ALLOWED: &[c_long] = calls![
    // Open files.
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev
    SYS_preadv2 SYS_pwritev2 SYS_lseek SYS_close SYS_close_range SYS_dup SYS_dup3 SYS_pipe2
    SYS_flock SYS_fsync SYS_fdatasync SYS_ftruncate SYS_fallocate SYS_fadvise64
    SYS_copy_file_range SYS_sendfile SYS_splice SYS_ppoll SYS_pselect6 SYS_epoll_create1
    SYS_epoll_ctl SYS_epoll_pwait SYS_eventfd2 SYS_readahead
    SYS_fstat SYS_fstatfs SYS_getdents64 SYS_umask
    // Memory.
    SYS_brk SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_madvise SYS_msync SYS_mincore
    SYS_mlock SYS_mlock2 SYS_munlock SYS_membarrier
    // Threads and the process itself.
    SYS_futex SYS_set_robust_list SYS_rseq SYS_set_tid_address SYS_sched_yield SYS_getcpu
    SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_execve SYS_getpid SYS_getppid
    SYS_gettid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getgroups SYS_getresuid
    SYS_getresgid SYS_getrlimit SYS_getrusage SYS_times
    SYS_uname SYS_sysinfo SYS_getrandom
    // The process's own signals and clocks.
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigsuspend SYS_rt_sigpending
    SYS_rt_sigtimedwait SYS_sigaltstack SYS_restart_syscall SYS_nanosleep SYS_clock_nanosleep
    SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_getitimer SYS_setitimer
    // Giving up further rights.
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self SYS_seccomp
];

/// Calls that name a file or a folder. Landlock restricts which files may be opened and changed, but not which are
/// seen to exist.
const NAMED_FILES: &[c_long] = calls![
    SYS_newfstatat SYS_statx SYS_statfs SYS_faccessat SYS_faccessat2 SYS_readlinkat SYS_getcwd
    SYS_chdir SYS_fchdir SYS_mkdirat SYS_unlinkat SYS_renameat2 SYS_linkat SYS_symlinkat
];

/// Calls that open files, which [`allowed`] restricts.
#[cfg(target_arch = "x86_64")]
const OPENING: &[c_long] = calls![SYS_openat SYS_open];

/// Calls that open files, which [`allowed`] restricts.
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[c_long] = calls![SYS_openat];

/// Additional calls on x86-64, which newer calls replace.
#[cfg(target_arch = "x86_64")]
const ALLOWED_ARCH: &[c_long] = calls![
    SYS_dup2 SYS_pipe SYS_poll SYS_select SYS_epoll_create SYS_epoll_wait SYS_getdents
    SYS_arch_prctl SYS_getpgrp SYS_time SYS_alarm SYS_pause
];

/// Calls on x86-64 that name a file or a folder, which newer calls replace.
#[cfg(target_arch = "x86_64")]
const NAMED_FILES_ARCH: &[c_long] = calls![
    SYS_stat SYS_lstat SYS_access SYS_readlink SYS_mkdir SYS_rmdir SYS_unlink SYS_rename
    SYS_renameat SYS_link SYS_symlink SYS_creat
];

/// Additional calls on ARM.
#[cfg(target_arch = "aarch64")]
const ALLOWED_ARCH: &[c_long] = &[];

/// Calls on ARM that name a file, which newer calls replace.
#[cfg(target_arch = "aarch64")]
const NAMED_FILES_ARCH: &[c_long] = calls![SYS_renameat];

/// Calls on RISC-V that name a file, which newer calls replace.
#[cfg(target_arch = "riscv64")]
const NAMED_FILES_ARCH: &[c_long] = &[];

/// Additional calls on RISC-V.
#[cfg(target_arch = "riscv64")]
const ALLOWED_ARCH: &[c_long] = calls![SYS_riscv_flush_icache];

/// Additional calls of programs that may start others: a linker makes its output executable, a program that
/// confines others lowers their limits, and Rust's standard library reports the result of a start over a pair
/// of sockets.
const FOR_BUILDERS: &[c_long] =
    calls![SYS_fchmod SYS_fchmodat SYS_setrlimit SYS_sendmsg SYS_recvmsg SYS_recvfrom];

/// Additional calls of such programs on x86-64.
#[cfg(target_arch = "x86_64")]
const FOR_BUILDERS_ARCH: &[c_long] = calls![SYS_chmod SYS_fork SYS_vfork];

/// Additional calls of such programs on other architectures.
#[cfg(not(target_arch = "x86_64"))]
const FOR_BUILDERS_ARCH: &[c_long] = &[];
