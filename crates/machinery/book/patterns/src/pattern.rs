//! Access patterns that readers of the book's interactive page can choose.

use std::str::FromStr;

use crate::language::{Language, localize};

/// An access pattern: the element that each thread reads. `kernels/patterns.cu` implements it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub space: Space,
    pub order: Order,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub element: u32,
    /// Threads of the block in x and y; the grid has one block.
    pub block: [u32; 2],
    /// Bytes from the start of a row to the start of the next.
    pub pitch: u32,
    /// Elements from one that is read to the next within a row.
    pub stride: u32,
    /// Index of the first element that is read.
    pub offset: u32,
}

/// The memory that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    ReadOnly,
    Shared,
    Constant,
}

/// The mapping from threads to elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `threadIdx.x` is the element within a row, `threadIdx.y` the row.
    Rows,
    /// `threadIdx.x` is the row, `threadIdx.y` the element within it.
    Columns,
    /// All threads read the same element.
    One,
    /// Each thread reads a pseudo-random element.
    Random,
}

/// The reason why a pattern is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no parameter of this name.
    Unknown(String),
    /// An invalid value: the name of the parameter and the value.
    Value(String, String),
    /// The number of threads is not between 1 and 1024.
    Threads(u64),
    /// The pattern exceeds the memory: the bytes it needs and the bytes available.
    TooFar(u64, u64),
}

impl Default for Pattern {
    /// Returns a coalesced load by one warp.
    fn default() -> Self {
        Pattern {
            space: Space::Global,
            order: Order::Rows,
            element: 4,
            block: [32, 1],
            pitch: 512,
            stride: 1,
            offset: 0,
        }
    }
}

impl Space {
    /// Returns the name of the kernels that read this memory, without the suffix for the element size.
    pub fn kernel(self) -> &'static str {
        match self {
            Space::Global => "read_global",
            Space::ReadOnly => "read_only",
            Space::Shared => "read_shared",
            Space::Constant => "read_constant",
        }
    }

    /// Returns the bytes available to a pattern: an arbitrary limit for global memory, the limit for a
    /// block without opt-in for shared memory, the size of constant memory.
    pub fn bytes(self) -> u64 {
        match self {
            Space::Global | Space::ReadOnly => 16 << 20,
            Space::Shared => 48 << 10,
            Space::Constant => 64 << 10,
        }
    }

    /// Returns the size in bytes of the range that pseudo-random reads cover.
    fn scatter_bytes(self) -> u32 {
        match self {
            Space::Shared => 32 << 10,
            Space::Global | Space::ReadOnly | Space::Constant => 64 << 10,
        }
    }
}

impl Order {
    /// Returns the number that the kernel uses for this order.
    pub fn number(self) -> u32 {
        self as u32
    }
}

impl Pattern {
    /// Returns the number of elements that pseudo-random reads cover.
    pub fn elements(&self) -> u32 {
        self.space.scatter_bytes() / self.element
    }

    /// Returns the size in bytes of the range that the threads read, or an upper bound of it.
    pub fn extent(&self) -> u64 {
        let last = |count: u32| u64::from(count) - 1;
        let ([x, y], stride) = (self.block.map(last), u64::from(self.stride));
        let (row, element) = match self.order {
            Order::Rows => (y, x * stride),
            Order::Columns => (x, y * stride),
            Order::One => (0, 0),
            Order::Random => (0, last(self.elements())),
        };
        let elements = u64::from(self.offset) + element + 1;
        row * u64::from(self.pitch) + elements * u64::from(self.element)
    }

    /// Fails if the block has too many threads or none, or the memory is too small.
    fn check(&self) -> Result<(), Problem> {
        let threads = self.block.iter().map(|&n| u64::from(n)).product();
        if !(1..=1024).contains(&threads) {
            return Err(Problem::Threads(threads));
        }
        let (extent, bytes) = (self.extent(), self.space.bytes());
        if extent > bytes {
            return Err(Problem::TooFar(extent, bytes));
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let invalid = || Problem::Value(key.into(), value.into());
        let number = |value: &str| value.parse::<u32>().map_err(|_| invalid());
        match key {
            "space" => {
                self.space = match value {
                    "global" => Space::Global,
                    "read-only" => Space::ReadOnly,
                    "shared" => Space::Shared,
                    "constant" => Space::Constant,
                    _ => return Err(invalid()),
                }
            }
            "order" => {
                self.order = match value {
                    "rows" => Order::Rows,
                    "columns" => Order::Columns,
                    "one" => Order::One,
                    "random" => Order::Random,
                    _ => return Err(invalid()),
                }
            }
            "element" => {
                let bytes = number(value)?;
                if ![1, 2, 4, 8, 16].contains(&bytes) {
                    return Err(invalid());
                }
                self.element = bytes;
            }
            "block" => {
                let (x, y) = value.split_once('x').ok_or_else(invalid)?;
                self.block = [number(x)?, number(y)?];
            }
            "pitch" => self.pitch = number(value)?,
            "stride" => self.stride = number(value)?,
            "offset" => self.offset = number(value)?,
            _ => return Err(Problem::Unknown(key.into())),
        }
        Ok(())
    }
}

/// Parses text like `space=shared&stride=2`. Parameters that are not given have their default; spaces
/// separate parameters, too.
impl FromStr for Pattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let mut pattern = Pattern::default();
        let parts = text.split(['&', ' ']).filter(|part| !part.is_empty());
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            pattern.set(key, value)?;
        }
        pattern.check()?;
        Ok(pattern)
    }
}

impl Problem {
    /// Returns the message for the reader.
    pub fn message(&self, language: Language) -> String {
        match self {
            Problem::Unknown(name) => language.pick(
                format!("unknown parameter `{name}`"),
                format!("未知参数 `{name}`"),
            ),
            Problem::Value(name, value) => language.pick(
                format!("invalid value `{value}` for `{name}`"),
                format!("`{name}` 的值 `{value}` 无效"),
            ),
            Problem::Threads(count) => language.pick(
                format!("a block must have 1 to 1024 threads, not {count}"),
                format!("线程块必须有 1 到 1024 个线程，而不是 {count} 个"),
            ),
            Problem::TooFar(extent, bytes) => localize!(
                language,
                "this pattern needs {extent} bytes of memory, but only {bytes} are available",
                "这种访问模式需要 {extent} 字节内存，但只有 {bytes} 字节可用"
            ),
        }
    }
}
