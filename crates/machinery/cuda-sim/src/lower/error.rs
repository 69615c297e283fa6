//! Why a module does not load.

use crate::ptx::ParseError;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    Syntax(ParseError),
    #[error("PTX version {}.{} is newer than {}.{}, the newest this simulator reads", .0.0, .0.1, .1.0, .1.1)]
    UnsupportedVersion((u32, u32), (u32, u32)),
    #[error(
        "the module is for {target}, the simulated {device} takes up to sm_{sm}: compile it for sm_{sm} or older"
    )]
    WrongTarget {
        target: String,
        device: String,
        sm: u32,
    },
    #[error("line {line}: {message}")]
    Invalid { line: u32, message: String },
    #[error(
        "line {line}: instruction `{instruction}` is not simulated{}",
        .needs.map(|sm| format!(" (it needs compute capability {}.{})", sm / 10, sm % 10)).unwrap_or_default()
    )]
    UnknownInstruction {
        line: u32,
        instruction: String,
        needs: Option<u32>,
    },
    #[error(
        "constant memory holds {limit} bytes, the module's constants take {needed}: make them smaller or move some to global memory"
    )]
    ConstantMemory { needed: u64, limit: u64 },
    #[error(
        "kernel {kernel} declares {needed} bytes of shared memory, a block has {limit}: make its arrays smaller"
    )]
    SharedMemory {
        kernel: String,
        needed: u64,
        limit: u64,
    },
    #[error("out of memory: the module's variables take {0} bytes")]
    OutOfMemory(u64),
}

impl LoadError {
    pub(super) fn invalid(line: u32, message: impl Into<String>) -> LoadError {
        LoadError::Invalid {
            line,
            message: message.into(),
        }
    }
}
