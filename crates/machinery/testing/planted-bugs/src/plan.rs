//! The host side of a kernel as data: buffers, their contents, and launches.

use cust::function::{BlockSize, GridSize};

/// A program's host side: launches in sequence, in one context with one module.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A pointer in a `__device__` variable, and the buffer it points to.
    pub symbol: Option<(&'static str, Buffer)>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
    /// The buffer that is copied back to page-locked memory in the stream, as an index into the first
    /// launch's arguments. No wait precedes the copy.
    pub readback: Option<(usize, Readback)>,
}

/// When the host reads the buffer that is copied back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readback {
    /// Without waiting for the stream.
    BeforeSync,
    /// After waiting for the stream.
    AfterSync,
}

/// A launch. All buffers are allocated and filled before the first launch, in the order in which they
/// appear in the plan.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel, unless it is the case's own.
    pub kernel: Option<&'static str>,
    /// The grid's dimensions in blocks.
    pub grid: GridSize,
    /// A block's dimensions in threads.
    pub block: BlockSize,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    pub arguments: Vec<Argument>,
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The address of a new buffer.
    Buffer(Buffer),
    /// The address of the buffer that is the first launch's argument with this index.
    SameAs(usize),
    /// A 4-byte value.
    Word(u32),
    /// An 8-byte value.
    Long(u64),
}

/// A buffer, its contents and its lifetime.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Allocated bytes.
    pub bytes: usize,
    /// Writes by the host before the first launch.
    pub writes: Vec<Write>,
    /// The buffer's location and lifetime.
    pub lifetime: Lifetime,
}

/// A write from the host.
#[derive(Clone, Debug)]
pub enum Write {
    /// The bytes to write, after the offset at which they go.
    Copy(usize, Vec<u8>),
    /// The number of bytes to zero, from the start.
    Zeros(usize),
}

/// A buffer's location and lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// In device memory until the end of the run.
    Run,
    /// In device memory, and freed before the first launch.
    Freed,
    /// In device memory, and never freed.
    Leaked,
    /// In pageable host memory.
    OnHost,
}

/// Describes a launch of the case's kernel with the given grid and block dimensions.
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
        readback: None,
    }
}

impl Plan {
    /// Sets the bytes of dynamic shared memory per block.
    pub fn shared(mut self, bytes: u32) -> Self {
        for launch in &mut self.launches {
            launch.shared = bytes;
        }
        self
    }

    /// Makes the module's variable `name` point to `buffer`.
    pub fn symbol(mut self, name: &'static str, buffer: Buffer) -> Self {
        self.symbol = Some((name, buffer));
        self
    }

    /// Appends the launches of `next`.
    pub fn then(mut self, next: Plan) -> Self {
        self.launches.extend(next.launches);
        self
    }

    /// Copies the first launch's argument with index `argument` back to the host.
    pub fn read_back(mut self, argument: usize, when: Readback) -> Self {
        self.readback = Some((argument, when));
        self
    }

    /// Launches another kernel of the case's file.
    pub fn kernel(mut self, kernel: &'static str) -> Self {
        for launch in &mut self.launches {
            launch.kernel = Some(kernel);
        }
        self
    }
}

/// Returns an uninitialized buffer of `bytes` bytes.
pub fn uninit(bytes: usize) -> Buffer {
    Buffer {
        bytes,
        writes: Vec::new(),
        lifetime: Lifetime::Run,
    }
}

/// Returns a buffer of `bytes` zero bytes.
pub fn zeros(bytes: usize) -> Buffer {
    uninit(bytes).zeroed(bytes)
}

/// Returns `count` floats: 0, 0.5, 1, 1.5 and so on.
pub fn floats(count: u16) -> Buffer {
    initialized((0..count).flat_map(|i| (0.5 * f32::from(i)).to_le_bytes()))
}

/// Returns `count` scattered integers below 64, many of them repeated.
pub fn integers(count: i32) -> Buffer {
    initialized((0..count).flat_map(|i| (i * i % 61).to_le_bytes()))
}

/// Returns a linked list of `count` elements, each a float and the index of the next element; -1 ends the list.
pub fn linked_list(count: i32) -> Buffer {
    initialized((0..count).flat_map(move |i| {
        let next = if i + 1 < count { i + 1 } else { -1 };
        [1.0_f32.to_le_bytes(), next.to_le_bytes()].concat()
    }))
}

/// Returns `count` rows of `width` floats with a pitch of `pitch` bytes. The padding between rows stays
/// uninitialized.
pub fn pitched_rows(count: usize, width: u16, pitch: usize) -> Buffer {
    let mut buffer = uninit(count * pitch);
    for row in 0..count {
        let floats = (0..width).flat_map(|i| f32::from(i).to_le_bytes());
        buffer
            .writes
            .push(Write::Copy(row * pitch, floats.collect()));
    }
    buffer
}

fn initialized(bytes: impl Iterator<Item = u8>) -> Buffer {
    let bytes: Vec<u8> = bytes.collect();
    Buffer {
        bytes: bytes.len(),
        writes: vec![Write::Copy(0, bytes)],
        lifetime: Lifetime::Run,
    }
}

impl Buffer {
    /// Fills the first `bytes` bytes with zeros.
    pub fn zeroed(mut self, bytes: usize) -> Self {
        self.writes.push(Write::Zeros(bytes));
        self
    }

    /// Copies only the first `bytes` bytes into the buffer.
    pub fn truncated(mut self, bytes: usize) -> Self {
        for write in &mut self.writes {
            if let Write::Copy(_, initialized) = write {
                initialized.truncate(bytes);
            }
        }
        self
    }

    /// Frees the buffer before the launch.
    pub fn freed(mut self) -> Self {
        self.lifetime = Lifetime::Freed;
        self
    }

    /// Leaks the buffer.
    pub fn leaked(mut self) -> Self {
        self.lifetime = Lifetime::Leaked;
        self
    }

    /// Places the buffer in host memory.
    pub fn on_host(mut self) -> Self {
        self.lifetime = Lifetime::OnHost;
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
