//! The reasons why a module cannot be loaded, and the limits on modules.

use crate::ptx::ParseError;

/// The reason why a module cannot be loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// The text is not valid PTX.
    #[error("{0}")]
    Syntax(ParseError),
    /// The module targets a newer GPU than the simulated one, which is not the newest.
    #[error(
        "the module is for {target}, but the simulated {device} supports at most sm_{sm}: compile it for sm_{sm} or older"
    )]
    WrongTarget {
        target: String,
        device: String,
        sm: u32,
    },
    /// The module's PTX version does not exist.
    #[error("PTX version {}.{} is not supported: compile for version 9.0 or older", .0.0, .0.1)]
    UnsupportedVersion((u32, u32)),
    /// The module's target does not exist.
    #[error("there is no target {0}: compile for the GPU's architecture, such as sm_90")]
    UnsupportedTarget(String),
    /// The module's target is newer than its PTX version.
    #[error("target {target} requires PTX version {}.{} or later", .version.0, .version.1)]
    OldVersion { target: String, version: (u32, u32) },
    /// The module violates a rule of PTX or exceeds a limit of the simulator.
    #[error("line {line}: {message}")]
    Invalid { line: u32, message: String },
    /// The module uses an instruction that is not simulated. `required_sm` is 10 times the compute capability
    /// that the instruction requires, if known.
    #[error(
        "line {line}: instruction `{instruction}` is not simulated{}",
        .required_sm.map(|sm| format!(" (it requires compute capability {}.{})", sm / 10, sm % 10)).unwrap_or_default()
    )]
    UnknownInstruction {
        line: u32,
        instruction: String,
        required_sm: Option<u32>,
        /// The part of an instruction that does not exist in PTX.
        not_in_ptx: Option<NotInPtx>,
    },
    /// The module's constants exceed constant memory.
    #[error(
        "the module's constants require {needed} bytes, but constant memory has {limit}: make them smaller or move some to global memory"
    )]
    ConstantMemory { needed: u64, limit: u64 },
    /// A kernel's shared variables exceed the shared memory of a block.
    #[error(
        "kernel {kernel} declares {needed} bytes of shared memory, but a block has {limit}: make its arrays smaller"
    )]
    SharedMemory {
        kernel: String,
        needed: u64,
        limit: u64,
    },
    /// Device memory is too small for a variable of this size in bytes.
    #[error("out of memory: the module's variables require {0} bytes")]
    OutOfMemory(u64),
}

/// An instruction that does not exist in PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotInPtx {
    pub mnemonic: String,
    /// The operands that are not declared either.
    pub undeclared: Vec<String>,
}

impl LoadError {
    /// Returns the error in the form in which the driver's assembler logs it.
    pub fn assembler_log(&self) -> String {
        let at = |line: &u32, message: &str| {
            format!("ptxas application ptx input, line {line}; error   : {message}\n")
        };
        let errors = match self {
            Self::Syntax(error) => at(&error.line, &error.problem.sentence(&error.found)),
            Self::Invalid { line, message } => at(line, message),
            Self::UnknownInstruction {
                line,
                not_in_ptx: Some(unknown),
                ..
            } => {
                let name = &unknown.mnemonic;
                let name = at(
                    line,
                    &format!("Not a name of any known instruction: '{name}'"),
                );
                let undeclared = unknown.undeclared.iter();
                let symbols = undeclared.map(|name| at(line, &format!("Unknown symbol '{name}'")));
                symbols.fold(name, |log, symbol| log + &symbol)
            }
            Self::UnknownInstruction {
                line, instruction, ..
            } => at(
                line,
                &format!("instruction `{instruction}` is not simulated"),
            ),
            Self::UnsupportedVersion((major, minor)) => {
                let message =
                    format!("Unsupported .version {major}.{minor}; current version is '9.0'");
                return format!("ptxas application ptx input, line 1; fatal   : {message}");
            }
            error => return error.to_string(),
        };
        errors + "ptxas fatal   : Ptx assembly aborted due to errors"
    }

    /// Creates an error about a line of the PTX.
    pub(super) fn invalid(line: u32, message: impl Into<String>) -> LoadError {
        LoadError::Invalid {
            line,
            message: message.into(),
        }
    }
}

/// Limits on modules, where a short text could otherwise demand unbounded memory or time. Every limit is far above what
/// compilers emit; a module beyond it is refused.
pub mod limits {
    /// Maximum basic blocks of a function. Computing reconvergence points can take quadratic time.
    pub const BLOCKS: usize = 1 << 15;

    /// Maximum targets of all `brx.idx` instructions of a function. Each instruction has its own copy of its list.
    pub const BRANCH_TARGETS: usize = 1 << 18;

    /// Maximum bytes of the registers of one warp in one function, including a row per literal.
    pub const FRAME_BYTES: u64 = 1 << 22;

    /// Maximum bytes of local memory per thread (CUDA C++ Programming Guide, table of technical specifications).
    pub const LOCAL_BYTES: u64 = 512 * 1024;

    /// Maximum references followed from a module's kernels, summed over the kernels.
    pub const REFERENCES: usize = 1 << 22;

    /// Maximum shared variables of a kernel.
    pub const SHARED_VARIABLES: usize = 2048;

    /// Maximum 64-bit words of all live-in sets of a function. A set has a bit per register.
    pub const LIVE_WORDS: usize = 1 << 22;

    /// Maximum steps of an iterative data-flow analysis of a function.
    pub const STEPS: usize = 1 << 28;
}
