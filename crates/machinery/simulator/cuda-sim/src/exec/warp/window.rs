//! Functions as the executor sees them, and register windows: the storage of a warp's registers in a function.

use crate::memory::fill;
use std::ops::Range;

/// The registers of one warp in one function: predicates, 64-bit rows, 32-bit rows and literals.
#[derive(Default)]
pub struct Window {
    rows: Vec<FrameLine>,
    function: usize,
    /// Number of the launch, as counted by the pool, for which it was created or cleared.
    launch: u64,
}

/// The unit of a window: 128 bytes, one 32-bit row, aligned to 128.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct FrameLine([u8; 128]);

impl Window {
    fn new(function: usize, code: &Function, launch: u64) -> Window {
        let mut window = Window {
            rows: vec![FrameLine([0; 128]); code.frame_bytes.div_ceil(128) as usize],
            function,
            launch,
        };
        window.write_literals(code);
        window
    }

    /// Resets the window for another launch.
    fn clear(&mut self, code: &Function, launch: u64) {
        self.rows.fill(FrameLine([0; 128]));
        self.launch = launch;
        self.write_literals(code);
    }

    fn write_literals(&mut self, code: &Function) {
        let base = self.base();
        for literal in &code.literals {
            // SAFETY: the layout placed every literal's row inside the frame.
            unsafe {
                let row = base.add(literal.offset as usize);
                if literal.wide {
                    *row.cast::<[u64; 32]>() = [literal.bits; 32];
                } else if literal.predicate {
                    *row.cast::<u32>() = literal.bits as u32;
                } else {
                    *row.cast::<[u32; 32]>() = [literal.bits as u32; 32];
                }
            }
        }
    }

    pub fn base(&mut self) -> *mut u8 {
        self.rows.as_mut_ptr().cast()
    }
}

/// Maximum bytes of the windows that calls may open: enough for every warp of a block to be some hundred calls
/// deep, and no more than a host can spare for each of its threads.
pub const MAX_CALL_BYTES: usize = 128 << 20;

/// Maximum bytes of a warp's local memory that is reused. Larger memory goes back to the system, for which
/// untouched memory costs nothing.
const MAX_REUSED_BYTES: usize = 1 << 20;

/// Unused windows. The last one returned is taken first, because it is in the host's cache.
pub struct WindowPool {
    free: Vec<Vec<Window>>,
    /// Index of the kernel's function.
    kernel: usize,
    /// Bytes of all windows created for calls.
    opened_by_calls: usize,
    /// Number of launches served.
    launch: u64,
}

impl WindowPool {
    pub fn new(functions: &[Function], kernel: usize) -> WindowPool {
        WindowPool {
            free: functions.iter().map(|_| Vec::new()).collect(),
            kernel,
            opened_by_calls: 0,
            launch: 0,
        }
    }

    /// Prepares for another launch of the same program, of any kernel. Keeps the windows of the previous
    /// launch's kernel.
    pub fn start_launch(&mut self, kernel: usize) {
        for (function, free) in self.free.iter_mut().enumerate() {
            if function != self.kernel {
                free.clear();
            }
        }
        self.kernel = kernel;
        self.opened_by_calls = 0;
        self.launch += 1;
    }

    /// Returns true if one more call may open a window, that is, calls have not reached [`MAX_CALL_BYTES`].
    pub fn has_room(&self, function: usize) -> bool {
        self.opened_by_calls < MAX_CALL_BYTES || !self.free[function].is_empty()
    }

    /// Returns a window for a call of `function`.
    pub fn take_for_call(&mut self, functions: &[Function], function: usize) -> Window {
        if self.free[function].is_empty() {
            self.opened_by_calls += functions[function].frame_bytes as usize;
        }
        self.take(functions, function)
    }

    /// Returns a window for `function`, with its literals in place.
    fn take(&mut self, functions: &[Function], function: usize) -> Window {
        let code = &functions[function];
        match self.free[function].pop() {
            Some(mut window) => {
                if window.launch != self.launch {
                    window.clear(code, self.launch);
                }
                window
            }
            None => Window::new(function, code, self.launch),
        }
    }

    /// Returns a window for the kernel itself.
    pub fn take_kernel(&mut self, functions: &[Function]) -> Window {
        self.take(functions, self.kernel)
    }

    pub fn recycle(&mut self, window: Window) {
        if !window.rows.is_empty() {
            self.free[window.function].push(window);
        }
    }
}

/// Unused local memory: blocks of 32 stacks, one after the other.
pub struct LocalPool {
    free: Vec<Box<[u8]>>,
    /// Bytes per lane.
    pub bytes: u32,
    /// Initial value of each word, or of its variants.
    word: u32,
}

/// The bits in which the initial words of three threads differ from the given one. Of the words that are NaN, a very
/// large negative and a very large positive float, each becomes the others. The lowest bit, that of a `bool`, differs
/// too.
const VARIANTS: [u32; 3] = [0, 0x8201_FFFF, 0x0180_5554];

impl LocalPool {
    pub fn new(bytes: u32, word: u32) -> LocalPool {
        LocalPool {
            free: Vec::new(),
            bytes,
            word,
        }
    }

    /// Returns uninitialized local memory for the warp with this number, or `None` if the kernel needs none. One run shows
    /// whether results depend on it, because threads next to each other find other contents.
    pub fn take(&mut self, warp: u64) -> Option<Box<[u8]>> {
        if self.bytes == 0 {
            return None;
        }
        let mut memory = match self.free.pop() {
            Some(mut memory) => {
                memory.fill(0);
                memory
            }
            None => vec![0; self.bytes as usize * 32].into_boxed_slice(),
        };
        if self.word != 0 {
            let lanes = memory.chunks_exact_mut(self.bytes as usize);
            for (number, lane) in (warp % 3..).zip(lanes) {
                fill(lane, self.word ^ VARIANTS[number as usize % 3]);
            }
        }
        Some(memory)
    }

    /// Returns true if a new pool with these parameters would be the same.
    pub fn is_equivalent(&self, bytes: u32, word: u32) -> bool {
        (self.bytes, self.word) == (bytes, word)
    }

    pub fn recycle(&mut self, memory: Option<Box<[u8]>>) {
        self.free
            .extend(memory.filter(|memory| memory.len() <= MAX_REUSED_BYTES));
    }
}

/// A `.entry` or `.func` with a body.
#[derive(Debug, Clone, Default)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    /// Index of its first instruction.
    pub entry: u32,
    /// Index of the block in which all returns reconverge; kernels have none.
    pub end: u32,
    /// Bytes of its registers per warp.
    pub frame_bytes: u32,
    /// Bytes of local memory per thread: results, parameters, variables and outgoing parameters.
    pub local_bytes: u32,
    /// The end of its results, parameters and variables in local memory, in which pointers of the program may point.
    pub variables_end: u32,
    /// True if its warps may run in lockstep, because the result does not depend on their order.
    pub can_form_gangs: bool,
    /// The frame's rows of values that are uniform over the warps of a block.
    pub uniform: UniformRows,
    /// Rows that hold the same value throughout.
    pub literals: Vec<Literal>,
    /// Maximum number of 32-bit registers per thread that are live at once.
    pub registers: u32,
    /// Indices of the functions it calls.
    pub calls: Vec<usize>,
    /// True if it calls through a pointer.
    pub calls_pointers: bool,
    /// True if it has atomics on device memory whose order affects the result.
    pub ordered: bool,
    /// True if it has volatile or ordered loads or stores of device memory.
    pub volatile: bool,
    /// True if it calls `malloc` or `free`.
    pub uses_heap: bool,
}

/// The row of a constant operand.
#[derive(Debug, Clone, Copy)]
pub struct Literal {
    pub offset: u32,
    pub bits: u64,
    pub wide: bool,
    pub predicate: bool,
}

/// A call: the transfers between the caller's and the callee's local memory. Each transfer is a tuple
/// `(from, to, bytes)` of offsets into the frames' local memory.
#[derive(Debug, Clone, Default)]
pub struct CallSite {
    pub arguments: Vec<(u32, u32, u32)>,
    pub results: Vec<(u32, u32, u32)>,
    /// Bytes of the caller's local memory; the callee's follows it.
    pub caller_bytes: u32,
}

/// Byte ranges of a frame that hold uniform values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UniformRows {
    /// Rows of 64 bits per lane.
    pub wide: Range<u32>,
    /// Rows of 32 bits per lane.
    pub narrow: Range<u32>,
    pub predicates: Range<u32>,
}

impl UniformRows {
    pub fn bytes(&self) -> u32 {
        (self.wide.len() + self.narrow.len() + self.predicates.len()) as u32
    }
}
