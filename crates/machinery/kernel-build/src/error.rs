//! What can go wrong, in words for the reader of a chapter.

use std::io;
use std::path::{Path, PathBuf};

use crate::answer::Ended;
use crate::clang::{self, PINNED_VERSION};

/// Why there is no PTX. The text is complete: it says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path outside any checkout was given.
    #[error("{} is in no checkout of Warpbook: no folder above it has both kernels and Cargo.toml", inside.display())]
    NoTree {
        /// The path.
        inside: PathBuf,
    },
    /// There is no `kernels/NAME.cu`.
    #[error("there is no kernels/{name}.cu; the kernels are: {known}")]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// A kernel's name has a dot, and what follows is no architecture.
    #[error(
        "kernels/{name}.cu: .{ending} names no GPU that kernels are compiled for; \
         rename it to end in one of {known}, or without a dot for any GPU"
    )]
    NoArch {
        /// The kernel.
        name: String,
        /// What follows the dot.
        ending: String,
        /// The endings there are, separated by commas.
        known: String,
    },
    /// [`crate::ptx`] was called where cargo had not set the variables a build script gets.
    #[error("cargo sets {variable} for build scripts, and it is not set: call this from build.rs")]
    NotABuildScript {
        /// The variable that is missing.
        variable: &'static str,
    },
    /// A source was edited, and nothing on this machine can compile it.
    #[error(
        "kernels/{name}.cu has no up-to-date PTX, and no compiler was found to make it.\n\
         Install clang:  {install}\n\
         ({clang}; {nvrtc})\n\
         If you did not mean to change the kernel, undo the edit: git checkout kernels",
        install = clang::install_command()
    )]
    NoCompiler {
        /// The kernel.
        name: String,
        /// Why there is no clang.
        clang: String,
        /// Why there is no NVRTC.
        nvrtc: String,
    },
    /// The kernel is wrong; `message` is the compiler's own.
    #[error("{compiler} cannot compile kernels/{name}.cu:\n{message}")]
    Kernel {
        /// The compiler, with its version.
        compiler: String,
        /// The kernel.
        name: String,
        /// What the compiler printed.
        message: String,
    },
    /// A text that is no kernel of the checkout is wrong; `message` is the compiler's own.
    #[error("{compiler} cannot compile {shown}:\n{message}")]
    Text {
        /// The compiler, with its version.
        compiler: String,
        /// What the text is called.
        shown: String,
        /// What the compiler printed.
        message: String,
    },
    /// The compiler was ended, or ended itself, before it said anything of the text.
    #[error("{compiler} did not come to an end with {shown}: {why:?}")]
    Ended {
        /// The compiler, with its version.
        compiler: String,
        /// What the text is called.
        shown: String,
        /// What became of it.
        why: Ended,
    },
    /// The compiler opened a file that a text may not include.
    #[error("the compiler opened {file}, which the text may not include")]
    Opened {
        /// The file, as the compiler names it.
        file: String,
    },
    /// The compiler does not run within the bounds that it was given.
    #[error(
        "{compiler} does not run where it can open no files but its own: {message}\n\
         KERNEL_CLANG=/path/to/clang picks another."
    )]
    NotStarted {
        /// The compiler, with its version.
        compiler: String,
        /// What it said.
        message: String,
    },
    /// There is no clang for [`crate::check`] and [`crate::write`].
    #[error(
        "no clang to compile the kernels with: {reason}\nInstall it:  {}",
        clang::install_command()
    )]
    NoClang {
        /// Why not.
        reason: String,
    },
    /// A clang other than the one that makes the committed PTX.
    #[error(
        "committed PTX is made by clang {PINNED_VERSION} alone, and this is clang {found}.\n\
         Debian 12 has it: apt-get install clang-14. KERNEL_CLANG=/path/to/clang picks one.\n\
         To use this one nevertheless, say --any-clang."
    )]
    NotPinned {
        /// The version found.
        found: String,
    },
    /// The CUDA toolkit's NVRTC does not compile for the GPUs a kernel is for.
    #[error(
        "kernels/{name}.cu is for {arch}, which {compiler} does not know: \
         install a newer CUDA toolkit, or clang:  {}",
        clang::install_command()
    )]
    OldNvrtc {
        /// The compiler, with its version.
        compiler: String,
        /// The kernel.
        name: String,
        /// The architecture the kernel needs, `sm_80`.
        arch: String,
    },
    /// A CUDA toolkit's NVRTC failed otherwise than by refusing the kernel.
    #[error("NVRTC failed in {call}: {message}")]
    Nvrtc {
        /// The function that failed.
        call: &'static str,
        /// NVRTC's name for the error.
        message: String,
    },
    /// A file could not be read or written, or a program not be run.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or program.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: what the operating system said about `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}
