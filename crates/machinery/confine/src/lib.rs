//! Starts a program that can open the files that are listed and no others, has no network, leaves no process
//! behind, and ends at its limits.
//!
//! A process gives up its own rights, for good, and then becomes the program that is not to have them. So the
//! program that confines others starts itself again: [`Rules::command`] makes the command, and its `main`
//! begins with [`asked`], which does the rest.
//!
//! | what is kept from it | on Linux, by | on macOS | on Windows |
//! |---|---|---|---|
//! | files that are not listed | Landlock | no | no |
//! | the network | seccomp | no | no |
//! | starting other programs, where `processes` is false | seccomp | no | no |
//! | signals to other processes, and looking into them | Landlock or seccomp | no | no |
//! | leaving its process group | seccomp | no | no |
//! | computing time, memory, the length of a file | limits of the process | all but the memory | no |
//! | the variables of its environment | they are cleared | they are cleared | they are cleared |
//!
//! What Linux does not keep from it: whether a file exists, how long it is and when it was changed.
//! [`kept`] says what the system at hand can do.

mod arguments;
mod hidden;
mod kept;
mod limits;
mod rules;

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
#[path = "other.rs"]
mod system;

pub use hidden::{CANNOT, asked, this_process};
pub use kept::{Kept, kept};
pub use limits::lower as lower_limits;
pub use rules::{Rules, system_libraries};

/// Why a program is not confined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A limit could not be lowered.
    #[error("cannot lower the limit on {what}: {why}")]
    Limit {
        /// What it limits.
        what: &'static str,
        /// What the system said.
        why: std::io::Error,
    },
    /// Landlock or seccomp refused.
    #[error("the system does not confine it: {0}")]
    System(String),
    /// The hidden command got other arguments than [`Rules::command`] gives.
    #[error("this command is for the program's own use: {0}")]
    Arguments(String),
}
