//! A pattern of reads, as a reader of the book's page chooses it.

use std::str::FromStr;

use crate::language::Language;

/// What a thread reads: `kernels/patterns.cu` has the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub space: Space,
    pub order: Order,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub element: u32,
    /// Threads of the one block, in x and y.
    pub block: [u32; 2],
    /// Bytes from the start of a row to that of the next.
    pub pitch: u32,
    /// Every how-manieth element of a row is read.
    pub stride: u32,
    /// Elements before the first that is read.
    pub offset: u32,
}

/// Which memory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    ReadOnly,
    Shared,
    Constant,
}

/// Which thread reads which element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// threadIdx.x counts elements of a row, threadIdx.y rows.
    Rows,
    /// threadIdx.x counts rows, threadIdx.y elements of a row.
    Columns,
    /// All threads read the same one.
    One,
    /// Scattered.
    Random,
}

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is nothing of this name to choose.
    Unknown(String),
    /// A value that cannot be: what it is of, and itself.
    Value(String, String),
    /// A block has from 1 to 1024 threads.
    Threads(u64),
    /// It reads bytes up to here; the memory has so many.
    TooFar(u64, u64),
}

impl Default for Pattern {
    /// A warp's coalesced read.
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
    /// What the kernels that read it are called, but for the size of an element.
    pub fn kernel(self) -> &'static str {
        match self {
            Space::Global => "read_global",
            Space::ReadOnly => "read_only",
            Space::Shared => "read_shared",
            Space::Constant => "read_constant",
        }
    }

    /// Bytes there are: of global memory as much as any pattern should take, of the others what a
    /// block has without asking for more.
    pub fn bytes(self) -> u64 {
        match self {
            Space::Global | Space::ReadOnly => 16 << 20,
            Space::Shared => 48 << 10,
            Space::Constant => 64 << 10,
        }
    }

    /// Bytes over which pseudo-random reads scatter.
    fn scattered(self) -> u32 {
        match self {
            Space::Shared => 32 << 10,
            Space::Global | Space::ReadOnly | Space::Constant => 64 << 10,
        }
    }
}

impl Order {
    /// Its number in the kernel.
    pub fn number(self) -> u32 {
        self as u32
    }
}

impl Pattern {
    /// Over how many elements pseudo-random reads scatter.
    pub fn elements(&self) -> u32 {
        self.space.scattered() / self.element
    }

    /// Bytes that have to be there for all threads to read, at most.
    pub fn reach(&self) -> u64 {
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

    /// Whether the memory is large enough, and the block small enough.
    fn check(&self) -> Result<(), Problem> {
        let threads = self.block.iter().map(|&n| u64::from(n)).product();
        if !(1..=1024).contains(&threads) {
            return Err(Problem::Threads(threads));
        }
        let (reach, bytes) = (self.reach(), self.space.bytes());
        if reach > bytes {
            return Err(Problem::TooFar(reach, bytes));
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let wrong = || Problem::Value(key.into(), value.into());
        let number = |value: &str| value.parse::<u32>().map_err(|_| wrong());
        match key {
            "space" => {
                self.space = match value {
                    "global" => Space::Global,
                    "read-only" => Space::ReadOnly,
                    "shared" => Space::Shared,
                    "constant" => Space::Constant,
                    _ => return Err(wrong()),
                }
            }
            "order" => {
                self.order = match value {
                    "rows" => Order::Rows,
                    "columns" => Order::Columns,
                    "one" => Order::One,
                    "random" => Order::Random,
                    _ => return Err(wrong()),
                }
            }
            "element" => {
                let bytes = number(value)?;
                if ![1, 2, 4, 8, 16].contains(&bytes) {
                    return Err(wrong());
                }
                self.element = bytes;
            }
            "block" => {
                let (x, y) = value.split_once('x').ok_or_else(wrong)?;
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

/// `space=shared&stride=2`: what is not named is as it is by default. Spaces will do as well.
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
    /// What to tell the reader.
    pub fn say(&self, language: Language) -> String {
        match self {
            Problem::Unknown(name) => language.of(
                format!("there is nothing called `{name}` to choose"),
                format!("没有叫做 `{name}` 的选项"),
            ),
            Problem::Value(name, value) => language.of(
                format!("`{value}` will not do for `{name}`"),
                format!("`{name}` 不能是 `{value}`"),
            ),
            Problem::Threads(count) => language.of(
                format!("a block has 1 to 1024 threads, not {count}"),
                format!("一个线程块有 1 到 1024 个线程，不能是 {count} 个"),
            ),
            Problem::TooFar(reach, bytes) => language.of(
                format!("this reads as far as byte {reach}, but there are {bytes} bytes"),
                format!("这样会读到第 {reach} 字节，而这里只有 {bytes} 字节"),
            ),
        }
    }
}
