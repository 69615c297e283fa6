//! A kernel, and its parameters.

/// A kernel as the driver sees it.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    pub name: String,
    /// Its code: an index into the program's functions.
    pub function: usize,
    pub params: Vec<Param>,
    /// Bytes of all parameters.
    pub param_bytes: u32,
    /// Bytes of shared memory it declares.
    pub shared_bytes: u32,
    /// Bytes of local memory a thread, calls included where they can be counted.
    pub local_bytes: u32,
    /// Bytes of the module's constants.
    pub const_bytes: u32,
    /// 32-bit registers a thread: the most live at once, as an assembler would at least need.
    pub registers: u32,
    /// The most registers a thread may have by the kernel's launch bounds (`.maxntid`, `.reqntid`,
    /// `.minnctapersm`, `.maxnreg`): an assembler keeps what is more in local memory. None where
    /// it has no bounds.
    pub register_bound: Option<u32>,
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// Blocks must run in order for the result to be the same each time.
    pub ordered: bool,
    /// It has volatile or ordered loads or stores of device memory, by which its blocks may wait for
    /// each other.
    pub volatile: bool,
    /// Calls itself in a circle or through pointers, so that its stack has no bound.
    pub(crate) unbounded: bool,
}

impl Kernel {
    /// `registers`, if the kernel's launch bounds leave room for so many; else as many as they do.
    pub fn bounded(&self, registers: u32) -> u32 {
        self.register_bound
            .map_or(registers, |bound| registers.min(bound))
    }

    /// The registers that an assembler probably gives a thread. It moves instructions until far fewer values are
    /// alive at once than in the order of the PTX: it makes do with half of them in the chapters' kernels.
    pub fn probable_registers(&self) -> u32 {
        /// What an assembler does not save below.
        const LEAST: u32 = 32;
        /// A thread has at most so many; the rest is kept in local memory.
        const MOST: u32 = 255;
        self.bounded((self.registers / 2).clamp(LEAST, MOST))
    }

    /// Bytes of a block's shared memory, with `dynamic` bytes sized at launch.
    pub fn shared_with(&self, dynamic: u32) -> u32 {
        match dynamic {
            // There is not a byte more than is declared.
            0 => self.shared_bytes,
            // What is sized at launch begins at a boundary.
            dynamic => self.shared_bytes.next_multiple_of(16) + dynamic,
        }
    }

    /// Bytes of local memory to give each thread, with `limit` set for unbounded stacks.
    pub fn stack_bytes(&self, limit: u32) -> u32 {
        let bytes = if self.unbounded {
            self.local_bytes.max(limit)
        } else {
            self.local_bytes
        };
        bytes.next_multiple_of(16)
    }
}

/// A kernel parameter's place in the parameter space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub offset: u32,
    pub size: u32,
}
