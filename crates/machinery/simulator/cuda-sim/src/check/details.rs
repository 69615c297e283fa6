//! The details of findings: the accessed memory, the absent threads, or the fault with its kind; and the macro for enums whose
//! variants are the sentences of messages.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::isa::check_event::SharedArray;
use crate::isa::{Element, Listing, SourceLine};
use crate::memory::global::{AllocationCall, AllocationKind, AllocationRecord, CallSite, Rows};

/// A number of bytes, formatted as `1 byte` or `4 bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 byte"),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// Defines enums with an English sentence per variant, which [`Display`](std::fmt::Display) writes:
/// `Past(distance: Bytes) => "{distance} past the end";`. The sentence may be followed by arguments.
macro_rules! sentences {
    ($($(#[$enum_meta:meta])* pub enum $name:ident {
        $($(#[$meta:meta])* $variant:ident $({ $($field:ident: $type:ty),* })? $(($($value:ident: $value_type:ty),*))?
            => $text:literal $(, $argument:expr)*;)*
    })*) => {$(
        $(#[$enum_meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$meta])* $variant $({ $($field: $type),* })? $(($($value_type),*))?),*
        }

        impl $name {
            /// Returns the variant's name in records, for example `missing-barrier`.
            pub fn kind(&self) -> String {
                match self {
                    $($name::$variant { .. } => $crate::check::details::record_name(stringify!($variant)),)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$variant $({ $($field),* })? $(($($value),*))? => write!(f, $text $(, $argument)*),)*
                }
            }
        }
    )*};
}

pub(super) use sentences;

/// Converts the name of a variant to its name in records: `MissingBarrier` to `missing-barrier`.
pub fn record_name(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

sentences! {
    /// The evidence of a finding.
    pub enum Details {
        /// No evidence beyond the kind of finding.
        None => "";
        /// Bytes of the block's memory.
        Block(bytes: BlockBytes) => "{bytes}";
        /// Bytes past the end of the array from which their address was computed.
        PastArray(bytes: Bytes, at: u64, byte: u64, array: NamedArray) =>
            "{bytes} at offset {at:#x} of shared memory: byte {byte} of {array}";
        BeforeArray(bytes: Bytes, at: u64, distance: Bytes, array: NamedArray) =>
            "{bytes} at offset {at:#x} of shared memory: {distance} before the start of {array}";
        /// Bytes of device memory that has been freed since.
        Device(bytes: Bytes, at: u64) => "{bytes} at {at:#x}";
        PartOfAllocation(bytes: Bytes, at: u64, byte: u64, allocation: AllocationRecord) =>
            "{bytes} at {at:#x}: byte {byte} of {allocation}";
        WholeAllocation(bytes: Bytes, at: u64, allocation: AllocationRecord) =>
            "{bytes} at {at:#x}: all of {allocation}";
        /// Part of a warp arrived at a barrier; `live` is the number of threads that have not exited.
        PartialArrival(arrived: u32, live: u32) =>
            "{arrived} of the warp's {live} threads are here, the others are not";
        /// Part of a warp arrived at a barrier, with the current line of one of the absent threads.
        DivergentArrival(arrived: u32, live: u32, elsewhere: SourceLine) =>
            "{arrived} of the warp's {live} threads are here, the others are not, one of them at {elsewhere}";
        ExitedThread(first: SourceLine) =>
            "1 thread of the block has exited and will not arrive; the first exited at {first}";
        ExitedThreads(threads: u32, first: SourceLine) =>
            "{threads} threads of the block have exited and will not arrive; the first exited at {first}";
        /// The mask operand of a warp-wide instruction, and the lanes that it includes or omits by mistake.
        Mask(mask: u32, wrong: Lanes) => "the mask is {mask:#010x}; lanes {wrong}";
        /// An allocation that was not freed.
        Leak(allocation: AllocationRecord, kind: AllocationKind) => "{allocation}{}", AllocatedBy(allocation, *kind);
        /// Several `extern __shared__` arrays of a kernel.
        ExternArrays(names: Names) => "the arrays {names} start at the same address";
        /// Bytes of memory that a fill has set to one value each.
        ByteFill(value: u8, fill: Fill, read: FillRead, allocation: AllocationRecord) =>
            "{fill} set each byte to {value}: {read}\n  in {allocation}";
        /// A coordinate outside a texture whose address mode needs normalized coordinates.
        Texture(outside: OutsideTexture) => "{outside}";
        /// Elements that are copied although nothing has written them.
        Unwritten(unwritten: Unwritten, allocation: AllocationRecord, writer: Writer) =>
            "{unwritten} {allocation}{writer}";
        /// Bytes that a library's function reads although nothing has written them.
        LibraryRead(function: String, read: u64, unwritten: u64, first: u64, allocation: AllocationRecord) =>
            "{function} reads {read} bytes, {unwritten} of which nothing has written; the first is byte {first} of \
             {allocation}";
        /// Elements that were copied or set although nothing has read them.
        Unread(unread: Unread) => "{unread}";
        /// An action of the program on host memory that work in a stream still uses.
        Host(action: HostAction, memory: HostMemory, work: PendingWork) =>
            "the program {action} {memory}, which {work}";
        /// Two operations that use the same bytes in no defined order, the later call first.
        Streams(later: StreamOperation, earlier: StreamOperation, bytes: Bytes, byte: u64, allocation: AllocationRecord) =>
            "{later}\n  {earlier}\n  {bytes} from byte {byte} of {allocation}";
        Fault(kind: FaultKind) => "{kind}";
        AddressFault(kind: FaultKind, address: AddressDetails) => "{kind}\n  {address}";
        /// An access that a GPU does not detect, as the fault that it is otherwise.
        UndetectedFault(kind: FaultKind, address: AddressDetails, granule: Bytes) =>
            "{kind}\n  {address}\n  a GPU does not detect this access, because it allocates multiples of {granule}";
        /// An invalid size of a bulk copy.
        UndetectedSize(kind: FaultKind) => "{kind}\n  a GPU does not detect this: it copies the multiple of 16 below";
    }

    /// A fill of memory by bytes.
    pub enum Fill {
        Unknown => "cudaMemset";
        At(source: CallSite) => "cudaMemset at {source}";
    }

    /// The value that a load reads after a fill by bytes.
    pub enum FillRead {
        Float(bits: u32) => "a float reads {:.5e}", f32::from_bits(*bits);
        Double(bits: u64) => "a double reads {:.5e}", f64::from_bits(*bits);
        Integer(value: u64) => "an integer reads {value} ({value:#x})";
    }

    /// A coordinate outside a texture, by its texel.
    #[derive(Copy)]
    pub enum OutsideTexture {
        X(at: i64, texels: i64) => "x is in texel {at}, the texture has {texels} texels in x";
        Y(at: i64, texels: i64) => "y is in texel {at}, the texture has {texels} texels in y";
        Z(at: i64, texels: i64) => "z is in texel {at}, the texture has {texels} texels in z";
    }

    /// Uninitialized elements that are copied, of an allocation.
    pub enum Unwritten {
        All(copied: Bytes) => "nothing has written the {copied} copied from";
        Bytes(unwritten: u64, copied: u64, first: u64) =>
            "nothing has written {unwritten} of the {copied} bytes copied; the first is byte {first} of";
        Elements(unwritten: u64, copied: u64, width: Bytes, first: u64) =>
            "nothing has written {unwritten} of the {copied} elements copied ({width} each); the first is element {first} of";
    }

    /// Elements of an input that nothing has read.
    pub enum Unread {
        All(bytes: Bytes, origin: Origin, allocation: AllocationRecord) =>
            "nothing has read any of the {bytes} {origin} {allocation}";
        Bytes(unread: u64, bytes: u64, origin: Origin, allocation: AllocationRecord, first: u64) =>
            "nothing has read {unread} of the {bytes} bytes {origin} {allocation}; the first is byte {first}";
        Elements(unread: u64, elements: u64, width: Bytes, origin: Origin, allocation: AllocationRecord, first: u64) =>
            "nothing has read {unread} of the {elements} elements ({width} each) {origin} {allocation}; the first is \
             element {first}";
    }

    /// The call that wrote an input.
    #[derive(Copy)]
    pub enum Origin {
        Copied => "copied to";
        Set => "set in";
    }

    /// The kernel that has written other elements of an allocation.
    pub enum Writer {
        None => "";
        Kernel(name: String) => "\n  kernel {name} wrote others";
    }

    /// Bytes of the memory of a block or of its threads.
    #[derive(Copy)]
    pub enum BlockBytes {
        Shared(bytes: Bytes, at: u64) => "{bytes} at offset {at:#x} of shared memory";
        Local(bytes: Bytes, at: u64) => "{bytes} at offset {at:#x} of local memory";
    }

    /// The memory at or around an invalid address.
    pub enum AddressDetails {
        Constants(bytes: Bytes) => "the module's constants take {bytes}";
        Parameters(bytes: Bytes) => "the parameters take {bytes}";
        NoSharedMemory => "the block has no shared memory";
        /// An address with the rank of a block that does not exist.
        NoSuchBlock(blocks: u64) => "the cluster has {blocks} blocks, whose ranks start at 0";
        BeforeArray(distance: Bytes, array: NamedArray) => "{distance} before the start of {array}";
        BeforeShared(distance: Bytes) => "{distance} before the block's shared memory";
        BeforeLocal => "before the thread's local memory";
        /// The address lies between the stack frames of a function and its caller.
        BetweenLocals => "past the end of the local variables of a function that has called this one";
        Before(distance: Bytes, allocation: AllocationRecord) => "{distance} before {allocation}";
        AtEnd(of: Extent) => "right past the end of {of}";
        /// An access that starts inside memory and ends outside.
        AcrossEnd(distance: Bytes, of: Extent) => "it starts {distance} before the end of {of}";
        PastEnd(distance: Bytes, of: Extent) => "{distance} past the end of {of}";
        /// An index that wrapped around.
        WrappedPast(allocation: AllocationRecord) => "almost 2^32 elements past {allocation}";
        Freed(byte: u64, allocation: AllocationRecord) => "byte {byte} of {allocation}, which has been freed";
        Null => "the address is null";
        NullPlus(offset: Bytes) => "the address is null plus {offset}";
        NullMinus(offset: Bytes) => "the address is null minus {offset}";
        NothingAllocated => "nothing is allocated";
        Misaligned(excess: Bytes) => "it is {excess} past an aligned address";
        WrongSpace(actual: ActualMemory) => "wrong space: {actual}";
    }

    /// Memory with an end.
    pub enum Extent {
        Allocation(allocation: AllocationRecord) => "{allocation}";
        Shared(bytes: Bytes) => "the block's {bytes} of shared memory";
        Array(array: NamedArray) => "{array}";
        Local(bytes: Bytes) => "the thread's {bytes} of local memory";
    }

    /// The memory to which an address belongs that was used in another space.
    pub enum ActualMemory {
        OwnThread => "it is an address of the thread's own memory";
        Shared => "it is an address of shared memory";
        CodeOrParameters => "it is an address of code or of parameters";
        Constant => "it is an address of constant memory, which a kernel may only read";
        Host => "it is an address of the host's memory";
        OtherDevice(device: u32) => "it is memory of device {device}, to which this device has no access";
    }

    /// An action of the program on host memory.
    pub enum HostAction {
        Reads => "reads";
        Writes => "writes";
        Changed => "changed";
    }

    /// A byte of host memory.
    pub enum HostMemory {
        Allocated(byte: u64, allocation: AllocationRecord) => "byte {byte} of {allocation}";
        /// Memory not allocated by the driver.
        Unallocated(at: u64) => "host memory at {at:#x}";
    }

    /// An operation of a stream, and how it uses the memory.
    pub enum StreamOperation {
        At(action: StreamAction, stream: StreamName, verb: StreamUse, line: CallSite) =>
            "{action} in {stream} {verb}, called at {line}";
        /// The program has no line table.
        Unlocated(action: StreamAction, stream: StreamName, verb: StreamUse) => "{action} in {stream} {verb}";
    }

    pub enum StreamAction {
        Kernel(name: String) => "kernel {name}";
        /// A kernel of a graph that was launched by the call.
        NodeKernel(name: String) => "a graph's kernel {name}";
        Copy(bytes: Bytes) => "a copy of {bytes}";
        NodeCopy(bytes: Bytes) => "a graph's copy of {bytes}";
        Fill(bytes: Bytes) => "a fill of {bytes}";
        NodeFill(bytes: Bytes) => "a graph's fill of {bytes}";
        /// A function of a library.
        Library(function: String) => "`{function}`";
        NodeLibrary(function: String) => "a graph's `{function}`";
        Allocation => "`cudaMallocAsync`";
        AsyncFree => "`cudaFreeAsync`";
        /// The free of memory that was allocated in a stream.
        Free => "`cudaFree`";
    }

    pub enum StreamName {
        Default => "the default stream";
        DefaultOfDevice(device: u32) => "the default stream of device {device}";
        DefaultOfThread => "a per-thread default stream";
        /// A stream with its position among all created streams.
        Created(number: u64) => "stream {number}";
        /// A stream that does not synchronize with the default stream.
        NonBlocking(number: u64) => "non-blocking stream {number}";
        /// No stream: a call that takes effect immediately.
        Host => "the host thread";
    }

    #[derive(Copy)]
    pub enum StreamUse {
        Reads => "reads";
        Writes => "writes";
        Updates => "updates with atomics";
        Allocates => "allocates";
        Frees => "frees";
    }

    /// Work in a stream that uses host memory.
    pub enum PendingWork {
        Operation(operation: StreamOperation) => "{operation}";
        GraphCopy(bytes: u64) => "a launched graph has not copied yet ({bytes} bytes)";
    }
}

impl Details {
    /// Returns the source line that the details name.
    pub fn source(&self) -> Option<&SourceLine> {
        match self {
            Details::DivergentArrival(.., source)
            | Details::ExitedThread(source)
            | Details::ExitedThreads(_, source) => Some(source),
            _ => None,
        }
    }

    /// Returns true unless both are about operations of streams that other calls have submitted.
    pub(super) fn has_same_calls(&self, other: &Details) -> bool {
        match (self, other) {
            (Details::Streams(a, b, ..), Details::Streams(c, d, ..)) => {
                a.is_same_call(c) && b.is_same_call(d)
            }
            (
                Details::Host(a, _, PendingWork::Operation(b)),
                Details::Host(c, _, PendingWork::Operation(d)),
            ) => a == c && b.is_same_call(d),
            _ => true,
        }
    }

    /// Returns the details of `bytes` bytes of device memory in this allocation.
    pub(super) fn device(at: u64, bytes: u64, allocation: Option<AllocationRecord>) -> Details {
        let size = bytes;
        let bytes = Bytes(bytes);
        match allocation {
            Some(allocation) if (allocation.base, allocation.bytes) == (at, size) => {
                Details::WholeAllocation(bytes, at, allocation)
            }
            Some(allocation) => {
                Details::PartOfAllocation(bytes, at, at - allocation.base, allocation)
            }
            None => Details::Device(bytes, at),
        }
    }
}

impl StreamOperation {
    /// Returns the line of the call, if it is known.
    pub fn line(&self) -> Option<&CallSite> {
        match self {
            StreamOperation::At(.., line) => Some(line),
            StreamOperation::Unlocated(..) => None,
        }
    }

    /// Returns true if both are calls at one line that do the same to the memory or, if the lines are unknown, in one
    /// stream.
    fn is_same_call(&self, other: &StreamOperation) -> bool {
        match (self, other) {
            (StreamOperation::At(_, _, verb, line), StreamOperation::At(_, _, other, at)) => {
                (verb, line) == (other, at)
            }
            _ => self == other,
        }
    }
}

/// The names of kernels, variables or arrays, of which a message lists the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names(Vec<String>);

impl Names {
    /// The maximum number of names that a message lists.
    const MAX: usize = 8;
}

impl<S: Into<String>> FromIterator<S> for Names {
    fn from_iter<T: IntoIterator<Item = S>>(names: T) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        Names(names)
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let listed = self.0.iter().take(Self::MAX);
        let listed: Vec<String> = listed.map(|name| format!("`{name}`")).collect();
        f.write_str(&listed.join(", "))?;
        match self.0.len().saturating_sub(Self::MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// An array in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedArray {
    pub name: String,
    pub bytes: Bytes,
}

impl NamedArray {
    /// Returns the name and size of an array of the program with this listing.
    pub fn of(array: SharedArray, listing: &Listing) -> Option<NamedArray> {
        Some(NamedArray {
            name: listing.shared_names.get(array.name as usize)?.clone(),
            bytes: Bytes((array.end - array.start).into()),
        })
    }
}

impl fmt::Display for NamedArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the array `{}` of {}", self.name, self.bytes)
    }
}

impl FillRead {
    /// Returns the value of an element all of whose bytes are `value`.
    pub(super) fn of(value: u8, element: Element) -> FillRead {
        let wide = u64::from_le_bytes([value; 8]);
        let narrow = u32::from_le_bytes([value; 4]);
        match (element.is_float, element.bytes) {
            (true, 4) => FillRead::Float(narrow),
            (true, _) => FillRead::Double(wide),
            (false, 4) => FillRead::Integer(narrow.into()),
            (false, _) => FillRead::Integer(wide),
        }
    }
}

impl AddressDetails {
    /// Returns the details of an address `distance` bytes past the end.
    pub fn past_end(distance: u64, of: Extent) -> AddressDetails {
        match distance {
            0 => AddressDetails::AtEnd(of),
            _ => AddressDetails::PastEnd(Bytes(distance), of),
        }
    }
}

impl fmt::Display for AllocationRecord {
    /// Formats an allocation by its name or, if it has none, by its size and the call that made it; if the call is
    /// unknown, by its address and position among all allocations.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AllocationRecord {
            bytes, base, order, ..
        } = self;
        if let Some(name) = &self.name {
            return write!(f, "`{name}` ({})", Bytes(*bytes));
        }
        match &self.call {
            Some(call) => write!(f, "the {bytes}-byte allocation {call}")?,
            None => {
                let order = ordinal(*order);
                write!(
                    f,
                    "the {bytes}-byte allocation at {base:#x}, allocated {order}"
                )?;
            }
        }
        match self.rows {
            Some(Rows { width, pitch }) => {
                let [width, pitch] = [width, pitch].map(Bytes);
                write!(f, ", with a pitch of {pitch} for rows of {width}")
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for AllocationCall {
    /// Formats a call with the pointer that it sets: `` `p` at main.cu:40 (`cudaMalloc`)``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = &self.variable {
            write!(f, "`{variable}` ")?;
        }
        write!(f, "at {} (`{}`", self.site, self.function)?;
        match self.repetition {
            1 => f.write_str(")"),
            repetition => write!(f, ", {} allocation of this line)", ordinal(repetition)),
        }
    }
}

/// The function that made an allocation, unless the allocation's description names the call.
struct AllocatedBy<'a>(&'a AllocationRecord, AllocationKind);

impl fmt::Display for AllocatedBy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.call {
            Some(_) => Ok(()),
            None => write!(f, " by {}", self.1.function()),
        }
    }
}

/// A mask of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lanes(pub u32);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list(", ", " to "))
    }
}

impl Lanes {
    /// Formats the lanes: `3`, `0 to 15`, `0, 2 to 5, 9`.
    pub fn list(self, separator: &str, to: &str) -> String {
        let mask = self.0;
        let mut parts = Vec::new();
        let mut lane = 0;
        while lane < 32 {
            if mask >> lane & 1 == 0 {
                lane += 1;
                continue;
            }
            let run = (!(mask >> lane)).trailing_zeros().min(32 - lane);
            parts.push(match run {
                1 => lane.to_string(),
                _ => format!("{lane}{to}{}", lane + run - 1),
            });
            lane += run;
        }
        parts.join(separator)
    }
}

/// Formats an ordinal number: `1st`, `2nd`, `11th`.
fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

sentences! {
    /// The kind of a fault.
    pub enum FaultKind {
        /// An access outside every allocation of its state space.
        IllegalAddress { address: u64, bytes: u32, write: bool, memory: AddressedMemory } =>
            "illegal address: {} of {} at {address:#x}, outside every {memory} allocation",
            if *write { "write" } else { "read" }, Bytes((*bytes).into());
        /// An access of a library's function outside every allocation of device memory.
        IllegalOperand { function: String, address: u64, bytes: u64, write: bool } =>
            "illegal address: {function} {} {bytes} bytes at {address:#x}, outside every device memory allocation",
            if *write { "writes" } else { "reads" };
        /// An address that is not a multiple of the access's size.
        MisalignedAddress { address: u64, bytes: u32 } =>
            "misaligned address: {address:#x} is not a multiple of {bytes}";
        /// An access outside the shared memory of a block that the address names by its rank in the cluster.
        IllegalClusterAddress { rank: u32, offset: u64, bytes: u32, write: bool } =>
            "illegal address: {} of {} at offset {offset:#x} in the shared memory of block {rank} of the cluster",
            if *write { "write" } else { "read" }, Bytes((*bytes).into());
        /// An offset in the shared memory of a block of the cluster that is not a multiple of the access's size.
        MisalignedClusterAddress { rank: u32, offset: u64, bytes: u32 } =>
            "misaligned address: offset {offset:#x} in the shared memory of block {rank} of the cluster is not a multiple \
             of {bytes}";
        /// A surface instruction whose x coordinate, in bytes, is not a multiple of the access's size.
        MisalignedSurface { x: u64, bytes: u32 } =>
            "misaligned surface coordinate: x is byte {x}, which is not a multiple of {bytes}";
        /// `trap`, or a device function that is only declared.
        Trap => "trap: the kernel stopped itself";
        /// `trap` in a grid barrier, which works only in a cooperative launch.
        GridBarrier => "grid barrier (`grid.sync()`) in a launch that is not cooperative: it traps";
        /// `brkpt`, which a GPU without a debugger treats as a trap.
        Breakpoint => "breakpoint: brkpt without a debugger";
        /// A call that exceeds the stack.
        StackOverflow { needed: u32, limit: u32 } =>
            "stack overflow: the call requires {needed} bytes of local memory per thread, the limit is {limit}";
        /// A call for which the active calls leave no room for registers.
        CallsTooDeep { limit: usize } =>
            "stack overflow: the registers of all active calls in the block exceed {} MB", limit >> 20;
        /// An indirect call to an address that is not a function.
        InvalidCall { address: u64 } => "call through a pointer that is not a function: {address:#x}";
        /// A failed `assert`; the message is CUDA's own.
        Assert { message: String } => "{message}";
        /// A barrier at which some threads of the block wait and that others never reach.
        BarrierNeverOpens { barrier: u32, arrived: u32, expected: u32 } =>
            "barrier {barrier} never opens: {arrived} threads wait, {expected} are required, and the others cannot \
             reach it";
        /// A `.sync` instruction whose mask names lanes that never arrive.
        WarpSyncNeverOpens { members: u32 } =>
            "warp synchronization never completes: its mask {members:#010x} names lanes that cannot reach it";
        /// A warp-wide instruction (`mma`, `ldmatrix`) in a warp with fewer than 32 live threads; `alive` is their
        /// mask.
        WarpIncomplete { alive: u32 } =>
            "incomplete warp: the instruction requires all 32 threads of a warp, but only {} are present: launch \
             blocks of a multiple of 32 threads, and let no thread exit before it", alive.count_ones();
        /// A warpgroup-wide instruction (`wgmma`) without all of its 128 threads.
        WarpgroupIncomplete =>
            "incomplete warpgroup: the instruction requires the 128 threads of four warps whose first number is a \
             multiple of four, but not all are present: launch blocks of a multiple of 128 threads, and let no \
             thread exit before it";
        /// An invalid use of `wgmma`.
        Warpgroup(misuse: WarpgroupMisuse) => "wgmma: {misuse}";
        /// A barrier number of 16 or more, or a thread count that is not a multiple of 32.
        InvalidBarrier { barrier: u32, count: u32 } =>
            "invalid barrier: number {barrier} (0 to 15 exist) for {count} threads (a multiple of 32)";
        /// An in-kernel `free` of an address that `malloc` did not return or that was freed before.
        InvalidFree { address: u64 } =>
            "invalid free of {address:#x}: in-kernel malloc did not return this address, or it was freed before";
        /// A handle that `cudaGraphConditionalHandleCreate` did not return.
        NoGraphCondition { handle: u64 } =>
            "cudaGraphSetConditional: {handle:#x} is not a handle of cudaGraphConditionalHandleCreate";
        /// A texture or surface handle that names no object, or whose memory was freed.
        NoImage { handle: u64 } =>
            "no texture or surface object has the handle {handle:#x}, or its memory was freed";
        /// A fetch from a texture or surface reference without a texture or surface in live memory.
        UnboundReference { name: String } =>
            "the texture or surface reference `{name}` is not bound, or its memory was freed; before the launch, \
             call cuTexRefSetArray, cuTexRefSetAddress or cuSurfRefSetArray with memory that is alive";
        /// An invalid use of an mbarrier.
        Mbarrier(misuse: MbarrierMisuse) => "mbarrier: {misuse}";
        /// An invalid use of a bulk asynchronous copy.
        BulkCopy(misuse: BulkCopyMisuse) => "bulk copy: {misuse}";
        /// An interrupt requested by the host, after `ended` of the launch's `blocks` blocks had ended.
        Interrupted { ended: u64, blocks: u64 } =>
            "the kernel was interrupted\n  blocks ended: {ended} of {blocks}";
        /// Expiry of the launch's time limit, after `ended` of its `blocks` blocks had ended.
        Timeout { limit: TimeLimit, ended: u64, blocks: u64 } => "{limit}\n  blocks ended: {ended} of {blocks}";
    }

    /// The memory that an illegal address should have been in.
    #[derive(Copy)]
    pub enum AddressedMemory {
        Device => "device memory";
        Constant => "constant memory";
        Shared => "shared memory";
        Local => "local memory";
        Parameters => "kernel parameters";
        /// Memory of any kind, addressed through the generic address space.
        Generic => "memory";
        Surface => "the surface";
    }

    /// An invalid use of `wgmma`.
    pub enum WarpgroupMisuse {
        Unfenced => "no `wgmma.fence` comes before the first `wgmma.mma_async`";
        NotAwaited =>
            "a thread exits without waiting for its matrix multiplications: `wgmma.commit_group` and then \
             `wgmma.wait_group` must come before their results are used";
        DifferentDescriptors => "the threads of a warp pass different descriptors of one matrix";
        MisplacedSwizzle =>
            "a swizzled matrix must start at a multiple of 8 of its rows (1024, 512 or 256 bytes), or inside the \
             first of them";
        BaseOffset => "a descriptor with a base offset is not simulated: align the matrix to 1024 bytes";
    }

    /// An invalid use of an mbarrier.
    pub enum MbarrierMisuse {
        TooManyArrivals => "more threads arrive than its phase expects: is it initialized with their number?";
        CompletesPhase => "an arrival that may not complete the phase (noComplete) completes it";
        TooManyBytes => "more bytes are expected than it can count";
        InvalidCount => "its thread count is 0 or more than 1048575";
    }

    /// An invalid use of a bulk asynchronous copy.
    pub enum BulkCopyMisuse {
        InvalidSize(bytes: u32) => "its size of {bytes} bytes is not a multiple of 16";
        NotTensorMap(address: u64) =>
            "no tensor map is at {address:#x}: pass the CUtensorMap as a `const __grid_constant__` parameter, or copy \
             it to device memory";
        InvalidTensorMap =>
            "the tensor map is invalid: `tensormap.replace` has changed it against the requirements of \
             cuTensorMapEncodeTiled";
        OtherRank(expected: u32, actual: u32) =>
            "the instruction copies from an array of {expected} dimensions, but the tensor map has {actual}";
        OtherMode => "the mode of the instruction (tile or im2col) is not that of the tensor map";
        NoReduction => "the elements of the tensor map have a type for which the reduction does not exist";
        MisalignedStart(bytes: i64) =>
            "the first coordinate starts at {bytes} bytes of a row, which is not a multiple of 16";
        NegativeCoordinate(coordinate: i64) =>
            "the coordinate {coordinate} is negative, which only copies to shared memory may have";
        OutsideBox(coordinate: i64) =>
            "the coordinate {coordinate} of the first pixel is outside of the bounding box of the im2col tensor map";
    }

    /// A wall-clock time limit of a launch.
    #[derive(Copy)]
    pub enum TimeLimit {
        /// Limit for the whole launch.
        Launch(limit: Duration) =>
            "the kernel ran past its time limit of {} s (CUDA_SIM_TIME_LIMIT)", limit.as_secs_f64();
        /// Limit for the time in which no block ends. A launch that makes progress may take any time.
        Standstill(limit: Duration) =>
            "no block of the kernel has ended for {} s: is there an endless loop? CUDA_SIM_TIME_LIMIT sets another \
             limit, in seconds; `none` removes it", limit.as_secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        let expected = [
            "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
        ];
        assert_eq!(ordinals, expected);
        let lanes = |mask| Lanes(mask).to_string();
        assert_eq!(lanes(u32::MAX), "0 to 31");
        assert_eq!(lanes(1 << 31), "31");
        assert_eq!(lanes(0b10_0011_1101), "0, 2 to 5, 9");
        assert_eq!(Bytes(1).to_string(), "1 byte");
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names = |count| (0..count).map(|i| format!("v{i}")).collect::<Names>();
        assert_eq!(names(0).to_string(), "none");
        assert_eq!(names(2).to_string(), "`v0`, `v1`");
        assert!(names(10).to_string().ends_with("`v7` and 2 more"));
    }
}
