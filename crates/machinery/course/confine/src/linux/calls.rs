//! The system calls that a confined program may make.
//!
//! Calls that are not listed fail as if the kernel did not know them, so that libraries fall back to older
//! calls. Unlisted calls include: sockets and interprocess messages; tracing and signalling other processes
//! (`ptrace`, `process_vm_*`, `pidfd_*`, `kcmp`); new sessions and process groups (`setsid`, `setpgid`), in
//! which a process would survive the termination of its group; changes of users, namespaces, mounts and keys;
//! programs in memory (`memfd_create`, `execveat`); file notifications (`inotify_*`); programs in the kernel
//! (`bpf`, `io_uring_*`); changing the owner and times of files, which Landlock does not restrict; priorities
//! of other processes; and all calls of 32-bit programs.

use libc::*;

/// Builds a list of calls from names separated by whitespace.
macro_rules! calls {
    ($($call:ident)*) => { &[$($call),*] };
}

/// Calls that every program may make, with any arguments.
pub const ALLOWED: &[c_long] = calls![
    // Open files.
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev
    SYS_preadv2 SYS_pwritev2 SYS_lseek SYS_close SYS_close_range SYS_dup SYS_dup3 SYS_pipe2
    SYS_fcntl SYS_flock SYS_fsync SYS_fdatasync SYS_ftruncate SYS_fallocate SYS_fadvise64
    SYS_copy_file_range SYS_sendfile SYS_splice SYS_ppoll SYS_pselect6 SYS_epoll_create1
    SYS_epoll_ctl SYS_epoll_pwait SYS_eventfd2 SYS_readahead
    // Files by name, restricted by Landlock.
    SYS_fstat SYS_newfstatat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat SYS_faccessat2
    SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_mkdirat SYS_unlinkat
    SYS_renameat2 SYS_linkat SYS_symlinkat SYS_umask
    // Memory.
    SYS_brk SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_madvise SYS_msync SYS_mincore
    SYS_mlock SYS_mlock2 SYS_munlock SYS_membarrier
    // Threads and the process itself.
    SYS_futex SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_set_tid_address
    SYS_sched_yield SYS_sched_getaffinity SYS_sched_getparam SYS_sched_getscheduler SYS_getcpu
    SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_execve SYS_prctl SYS_getpid SYS_getppid
    SYS_gettid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getgroups SYS_getresuid
    SYS_getresgid SYS_getpgid SYS_getsid SYS_getrlimit SYS_getrusage SYS_getpriority SYS_times
    SYS_uname SYS_sysinfo SYS_getrandom
    // The process's own signals and clocks.
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigsuspend SYS_rt_sigpending
    SYS_rt_sigtimedwait SYS_sigaltstack SYS_restart_syscall SYS_nanosleep SYS_clock_nanosleep
    SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_getitimer SYS_setitimer
    // Giving up further rights.
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self SYS_seccomp
];

/// Additional calls on x86-64, which newer calls replace.
#[cfg(target_arch = "x86_64")]
pub const ALLOWED_ARCH: &[c_long] = calls![
    SYS_dup2 SYS_pipe SYS_poll SYS_select SYS_epoll_create SYS_epoll_wait SYS_stat SYS_lstat
    SYS_access SYS_readlink SYS_getdents SYS_mkdir SYS_rmdir SYS_unlink SYS_rename SYS_renameat
    SYS_link SYS_symlink SYS_creat SYS_arch_prctl SYS_getpgrp SYS_time SYS_alarm SYS_pause
];

/// Additional calls on ARM.
#[cfg(target_arch = "aarch64")]
pub const ALLOWED_ARCH: &[c_long] = calls![SYS_renameat];

/// Additional calls on RISC-V.
#[cfg(target_arch = "riscv64")]
pub const ALLOWED_ARCH: &[c_long] = calls![SYS_riscv_flush_icache];

/// Additional calls of programs that may start others: a linker makes its output executable, a program that
/// confines others lowers their limits, and Rust's standard library reports the result of a start over a pair
/// of sockets.
pub const FOR_BUILDERS: &[c_long] =
    calls![SYS_fchmod SYS_fchmodat SYS_setrlimit SYS_sendmsg SYS_recvmsg SYS_recvfrom];

/// Additional calls of such programs on x86-64.
#[cfg(target_arch = "x86_64")]
pub const FOR_BUILDERS_ARCH: &[c_long] = calls![SYS_chmod SYS_fork SYS_vfork];

/// Additional calls of such programs on other architectures.
#[cfg(not(target_arch = "x86_64"))]
pub const FOR_BUILDERS_ARCH: &[c_long] = &[];
