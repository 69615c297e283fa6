//! The details of findings: the accessed memory, the absent threads, or the fault.

use super::fault_kind::FaultKind;
use super::sentences::{Bytes, sentences};
use crate::isa::check_event::SharedArray;
use crate::isa::{Element, Listing, SourceLine};
use crate::memory::global::{AllocationCall, AllocationKind, AllocationRecord, CallSite, Rows};
use serde::{Deserialize, Serialize};
use std::fmt;

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
