//! What the host does for a kernel, as data: buffers and what is in them, and launches.

use cust::function::{BlockSize, GridSize};

/// A program's host side: launches one after the other, in one context with one module.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A pointer in a `__device__` variable, and what it points to.
    pub symbol: Option<(&'static str, Buffer)>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
    /// What comes back in the stream, without a wait before: the first launch's argument of this number, a
    /// buffer, is copied to page-locked memory.
    pub back: Option<(usize, Back)>,
}

/// When the host reads what is copied back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// At once.
    ReadBeforeWaiting,
    /// When the stream has been waited for.
    ReadAfterWaiting,
}

/// A launch. All buffers are made and filled before the first launch, in the order in which they
/// are written here.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel, where it is not the case's own.
    pub kernel: Option<&'static str>,
    /// Blocks.
    pub grid: GridSize,
    /// Threads a block.
    pub block: BlockSize,
    /// Bytes of dynamic shared memory a block.
    pub shared: u32,
    /// The kernel's arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The address of a buffer of its own.
    Buffer(Buffer),
    /// The address of the first launch's argument of this number, a buffer.
    Again(usize),
    /// A number of four bytes.
    Word(u32),
    /// A number of eight bytes.
    Long(u64),
}

/// Memory, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// How many bytes are allocated.
    pub bytes: usize,
    /// What is written there before the first launch.
    pub written: Vec<Write>,
    /// Where it is, and how long.
    pub fate: Fate,
}

/// A write from the host.
#[derive(Clone, Debug)]
pub enum Write {
    /// These bytes, from this place on.
    Copy(usize, Vec<u8>),
    /// As many zeros from the start on.
    Zeros(usize),
}

/// Where a buffer is, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// On the device, until all is done.
    Kept,
    /// On the device, and freed before the first launch.
    Freed,
    /// On the device, and never freed.
    Leaked,
    /// In the host's own memory.
    OnHost,
}

/// A launch of the case's kernel on that many blocks of that many threads.
pub fn launch<const N: usize>(
    grid: impl Into<GridSize>,
    block: impl Into<BlockSize>,
    arguments: [Argument; N],
) -> Plan {
    let launch = Launch {
        kernel: None,
        grid: grid.into(),
        block: block.into(),
        shared: 0,
        arguments: arguments.into(),
    };
    Plan {
        symbol: None,
        launches: vec![launch],
        back: None,
    }
}

impl Plan {
    /// The same with `bytes` of dynamic shared memory for each block.
    pub fn shared(mut self, bytes: u32) -> Self {
        for launch in &mut self.launches {
            launch.shared = bytes;
        }
        self
    }

    /// The same with a variable of the module that points to `buffer`.
    pub fn symbol(mut self, name: &'static str, buffer: Buffer) -> Self {
        self.symbol = Some((name, buffer));
        self
    }

    /// The same, and then the launches of `next`.
    pub fn then(mut self, next: Plan) -> Self {
        self.launches.extend(next.launches);
        self
    }

    /// The same, and the first launch's argument of this number comes back.
    pub fn back(mut self, argument: usize, when: Back) -> Self {
        self.back = Some((argument, when));
        self
    }

    /// The same with another kernel of the case's file.
    pub fn of(mut self, kernel: &'static str) -> Self {
        for launch in &mut self.launches {
            launch.kernel = Some(kernel);
        }
        self
    }
}

/// Memory that nothing is written to.
pub fn room(bytes: usize) -> Buffer {
    Buffer {
        bytes,
        written: Vec::new(),
        fate: Fate::Kept,
    }
}

/// `bytes` of zeros.
pub fn zeros(bytes: usize) -> Buffer {
    room(bytes).zeroed(bytes)
}

/// So many floats: 0, 0.5, 1, 1.5 and so on.
pub fn floats(count: u16) -> Buffer {
    copied((0..count).flat_map(|i| (0.5 * f32::from(i)).to_le_bytes()))
}

/// So many whole numbers below 64, all over the place and many of them twice.
pub fn numbers(count: i32) -> Buffer {
    copied((0..count).flat_map(|i| (i * i % 61).to_le_bytes()))
}

/// A list of so many elements, each a float and the number of the next one; -1 after the last.
pub fn list(count: i32) -> Buffer {
    copied((0..count).flat_map(move |i| {
        let next = if i + 1 < count { i + 1 } else { -1 };
        [1.0_f32.to_le_bytes(), next.to_le_bytes()].concat()
    }))
}

/// Rows of `width` floats, each `pitch` bytes after the one before; what is between them is not
/// written.
pub fn rows(count: usize, width: u16, pitch: usize) -> Buffer {
    let mut buffer = room(count * pitch);
    for row in 0..count {
        let floats = (0..width).flat_map(|i| f32::from(i).to_le_bytes());
        buffer
            .written
            .push(Write::Copy(row * pitch, floats.collect()));
    }
    buffer
}

fn copied(bytes: impl Iterator<Item = u8>) -> Buffer {
    let bytes: Vec<u8> = bytes.collect();
    Buffer {
        bytes: bytes.len(),
        written: vec![Write::Copy(0, bytes)],
        fate: Fate::Kept,
    }
}

impl Buffer {
    /// The same with zeros in the first `bytes`.
    pub fn zeroed(mut self, bytes: usize) -> Self {
        self.written.push(Write::Zeros(bytes));
        self
    }

    /// The same, but only the first `bytes` are copied there.
    pub fn cut(mut self, bytes: usize) -> Self {
        for write in &mut self.written {
            if let Write::Copy(_, copied) = write {
                copied.truncate(bytes);
            }
        }
        self
    }

    /// The same, freed before the launch.
    pub fn freed(mut self) -> Self {
        self.fate = Fate::Freed;
        self
    }

    /// The same, and never freed.
    pub fn leaked(mut self) -> Self {
        self.fate = Fate::Leaked;
        self
    }

    /// The same in the host's memory.
    pub fn on_host(mut self) -> Self {
        self.fate = Fate::OnHost;
        self
    }
}

impl From<Buffer> for Argument {
    fn from(buffer: Buffer) -> Self {
        Argument::Buffer(buffer)
    }
}

impl From<i32> for Argument {
    fn from(number: i32) -> Self {
        Argument::Word(number.cast_unsigned())
    }
}

impl From<f32> for Argument {
    fn from(number: f32) -> Self {
        Argument::Word(number.to_bits())
    }
}

impl From<u64> for Argument {
    fn from(number: u64) -> Self {
        Argument::Long(number)
    }
}
