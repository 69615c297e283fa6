//! Runs a program that can open only listed files, has no network, leaves no process behind, and has resource
//! limits.
//!
//! A process gives up its own rights permanently and then becomes the program to confine. Therefore the
//! program that confines others starts itself again: [`Rules::command`] builds the command, and `main` must
//! begin with [`run_if_child`], which does the rest.
//!
//! | denied | on Linux, by | on macOS | on Windows |
//! |---|---|---|---|
//! | files that are not listed | Landlock | no | no |
//! | the network | seccomp | no | no |
//! | starting other programs, unless `processes` is true | seccomp | no | no |
//! | signalling and tracing other processes | Landlock or seccomp | no | no |
//! | leaving its process group | seccomp | no | no |
//! | exceeding limits of CPU time, memory and file size | resource limits | all except memory | no |
//! | environment variables | cleared | cleared | cleared |
//!
//! Linux does not hide whether a file exists, its size and its modification time. [`support`] reports what the
//! current system supports.

mod arguments;
mod hidden;
mod limits;
mod rules;
mod support;

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
#[path = "linux/mod.rs"]
mod system;

#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
#[path = "unsupported.rs"]
mod system;

pub use hidden::{EXIT_NOT_STARTED, confine_this_process, run_if_child};
pub use limits::lower as lower_limits;
pub use rules::{Rules, system_libraries};
pub use support::{Support, support};

/// The reason why a program could not be confined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A limit could not be lowered.
    #[error("cannot lower the limit on {resource}: {error}")]
    Limit {
        /// The limited resource.
        resource: &'static str,
        /// The system's error.
        error: std::io::Error,
    },
    /// Landlock or seccomp failed.
    #[error("cannot confine the program: {0}")]
    System(String),
    /// The hidden command got arguments that [`Rules::command`] does not produce.
    #[error("this command is internal: {0}")]
    Arguments(String),
}
