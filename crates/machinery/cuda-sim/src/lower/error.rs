//! Why a module does not load.

use crate::ptx::ParseError;

/// Why a module does not load.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// It is no PTX.
    #[error("{0}")]
    Syntax(ParseError),
    /// It is for a newer GPU than the simulated one, which is not the newest.
    #[error(
        "the module is for {target}, the simulated {device} takes up to sm_{sm}: compile it for sm_{sm} or older"
    )]
    WrongTarget {
        target: String,
        device: String,
        sm: u32,
    },
    /// It breaks a rule of PTX, or is larger than the simulator takes.
    #[error("line {line}: {message}")]
    Invalid { line: u32, message: String },
    /// It has an instruction that the simulator does not know; `needs` is ten times the compute
    /// capability that it takes, where that is known.
    #[error(
        "line {line}: instruction `{instruction}` is not simulated{}",
        .needs.map(|sm| format!(" (it needs compute capability {}.{})", sm / 10, sm % 10)).unwrap_or_default()
    )]
    UnknownInstruction {
        line: u32,
        instruction: String,
        needs: Option<u32>,
    },
    /// Its constants take more bytes than constant memory has.
    #[error(
        "constant memory holds {limit} bytes, the module's constants take {needed}: make them smaller or move some to global memory"
    )]
    ConstantMemory { needed: u64, limit: u64 },
    /// A kernel's variables take more bytes than a block has shared memory.
    #[error(
        "kernel {kernel} declares {needed} bytes of shared memory, a block has {limit}: make its arrays smaller"
    )]
    SharedMemory {
        kernel: String,
        needed: u64,
        limit: u64,
    },
    /// There is no device memory for a variable of so many bytes.
    #[error("out of memory: the module's variables take {0} bytes")]
    OutOfMemory(u64),
}

impl LoadError {
    /// For a mistake on a line of the PTX text.
    pub(super) fn invalid(line: u32, message: impl Into<String>) -> LoadError {
        LoadError::Invalid {
            line,
            message: message.into(),
        }
    }
}
