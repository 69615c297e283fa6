//! Why PTX does not load, and the driver's code for each reason.

use thiserror::Error;

use crate::driver::CudaError;
use crate::lower::LoadError;

/// The command that installs clang on the system this is built for.
pub(super) const INSTALL_CLANG: &str = if cfg!(target_os = "macos") {
    "brew install llvm"
} else if cfg!(windows) {
    "winget install LLVM.LLVM"
} else {
    "sudo apt-get install clang"
};

/// Why a module did not load.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// The context is gone or has faulted.
    #[error(transparent)]
    Context(#[from] CudaError),
    /// The text is no PTX at all.
    #[error("this is no PTX: it has no .version directive")]
    NotPtx,
    /// The output of one of NVIDIA's compilers.
    #[error(
        "this PTX was made by NVIDIA's compiler, whose licence does not allow running it on a \
         simulator; have clang compile the program, and run it: cargo run -p cuda-run -- program.cu \
         (docs/pages/en/your-own-program.md); to install clang: {INSTALL_CLANG}"
    )]
    MadeByNvidia,
    /// The PTX is not accepted; the message names the line and the reason.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl ModuleError {
    /// The driver's code for it.
    pub fn code(&self) -> CudaError {
        match self {
            Self::Context(error) => *error,
            Self::NotPtx => CudaError::InvalidImage,
            Self::MadeByNvidia => CudaError::InvalidPtx,
            Self::Load(LoadError::OutOfMemory(_)) => CudaError::OutOfMemory,
            Self::Load(_) => CudaError::InvalidPtx,
        }
    }
}
