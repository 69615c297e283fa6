//! Register windows: where a warp's registers are while it is in a function.

use super::function::Function;
use crate::memory::fill;

/// The registers of one warp in one function: predicates, 64-bit rows, 32-bit rows, literals.
#[derive(Default)]
pub struct Window {
    rows: Vec<FrameLine>,
    function: usize,
    /// The launch that it was made or cleared for, by the pool's count.
    launch: u64,
}

/// What a window is made of: 128 bytes, which is one 32-bit row, aligned to 128.
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
        window.put_literals(code);
        window
    }

    /// Becomes as a new one, for another launch.
    fn clear(&mut self, code: &Function, launch: u64) {
        self.rows.fill(FrameLine([0; 128]));
        self.launch = launch;
        self.put_literals(code);
    }

    fn put_literals(&mut self, code: &Function) {
        let base = self.base();
        for literal in &code.literals {
            // SAFETY: the layout put every literal's row inside the frame.
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

/// Bytes of the windows that calls may open: enough for every warp of a block to be some hundred
/// calls deep, and no more than a host has for each of its threads.
pub const CALLED_BYTES: usize = 128 << 20;

/// Bytes of the largest local memory of a warp that is kept to be used again. Larger ones go back to
/// the system, for which what nobody touches takes no memory.
const KEPT_BYTES: usize = 1 << 20;

/// Windows not in use. The last one given back is the first one taken: it is in the cache.
pub struct WindowPool {
    free: Vec<Vec<Window>>,
    /// The kernel's function, by number.
    kernel: usize,
    /// Bytes of all windows made for calls.
    called: usize,
    /// How many launches it has been for.
    launch: u64,
}

impl WindowPool {
    pub fn new(functions: &[Function], kernel: usize) -> WindowPool {
        WindowPool {
            free: functions.iter().map(|_| Vec::new()).collect(),
            kernel,
            called: 0,
            launch: 0,
        }
    }

    /// Is for another launch of the same program from now on, of whatever kernel. The windows that the last
    /// launch's kernel itself had are there again.
    pub fn begin(&mut self, kernel: usize) {
        for (function, free) in self.free.iter_mut().enumerate() {
            if function != self.kernel {
                free.clear();
            }
        }
        self.kernel = kernel;
        self.called = 0;
        self.launch += 1;
    }

    /// Whether one more call may open a window: calls have not opened [`CALLED_BYTES`] yet.
    pub fn has_room(&self, function: usize) -> bool {
        self.called < CALLED_BYTES || !self.free[function].is_empty()
    }

    /// A window for a call of `function`.
    pub fn take_called(&mut self, functions: &[Function], function: usize) -> Window {
        if self.free[function].is_empty() {
            self.called += functions[function].frame_bytes as usize;
        }
        self.take(functions, function)
    }

    /// A window for `function`, its literals in place.
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

    /// A window for the kernel itself.
    pub fn take_kernel(&mut self, functions: &[Function]) -> Window {
        self.take(functions, self.kernel)
    }

    pub fn give_back(&mut self, window: Window) {
        if !window.rows.is_empty() {
            self.free[window.function].push(window);
        }
    }
}

/// Local memory not in use: 32 stacks, one after the other.
pub struct LocalPool {
    free: Vec<Box<[u8]>>,
    /// Bytes a lane.
    pub bytes: u32,
    /// The word that it holds before somebody writes it.
    word: u32,
}

impl LocalPool {
    pub fn new(bytes: u32, word: u32) -> LocalPool {
        LocalPool {
            free: Vec::new(),
            bytes,
            word,
        }
    }

    /// Memory for a warp that nobody has written; none where the kernel needs none.
    pub fn take(&mut self) -> Option<Box<[u8]>> {
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
            memory
                .chunks_exact_mut(self.bytes as usize)
                .for_each(|lane| fill(lane, self.word));
        }
        Some(memory)
    }

    /// Whether it is the same as a new one of these would be.
    pub fn is_of(&self, bytes: u32, word: u32) -> bool {
        (self.bytes, self.word) == (bytes, word)
    }

    pub fn give_back(&mut self, memory: Option<Box<[u8]>>) {
        self.free
            .extend(memory.filter(|memory| memory.len() <= KEPT_BYTES));
    }
}
