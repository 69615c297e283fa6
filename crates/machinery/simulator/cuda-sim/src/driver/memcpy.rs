//! Copies (`cuMemcpy…`): one routine for one, two and three dimensions, between host and device in all
//! directions; and fills (`cuMemset…`), which set device memory to one repeated value.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::memory::MAX_PITCH;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};
use crate::check::reason::CopyEnd;
use crate::check::{Bytes, Finding, Reason, call_site};
use crate::memory::coverage::InputOrigin;
use crate::memory::global::{AllocationKind, BASE, ByteFill};

/// The base address of an operand, with the memory type that the caller declares (`CUmemorytype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemcpyAddress {
    /// Host memory (`CU_MEMORYTYPE_HOST`), or any other whose address it is, as on a GPU with unified addressing.
    Host(*mut u8),
    /// Device memory, or host memory mapped into the device (`CU_MEMORYTYPE_DEVICE`).
    Device(u64),
    /// The texels of an array, by its handle (`CU_MEMORYTYPE_ARRAY`). The array determines the pitch and the
    /// height.
    Array(u64),
    /// Host or device memory, determined by the address (`CU_MEMORYTYPE_UNIFIED`).
    Unified(u64),
}

/// The source or the destination of a copy: a position in a three-dimensional box of bytes, which consists of
/// slices of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemcpyOperand {
    /// The base address of the box.
    pub array: MemcpyAddress,
    /// The first byte within a row (`srcXInBytes`, `dstXInBytes`).
    pub x: u64,
    /// The first row within a slice.
    pub y: u64,
    /// The first slice.
    pub z: u64,
    /// Bytes from the start of a row to the start of the next. 0 means that the rows of the copy are
    /// contiguous.
    pub pitch: u64,
    /// Rows from the start of a slice to the start of the next (`srcHeight`, `dstHeight`). 0 means that the
    /// slices of the copy are contiguous.
    pub height: u64,
}

impl MemcpyOperand {
    /// Creates an operand of contiguous bytes from `start` on.
    pub fn linear(start: MemcpyAddress) -> Self {
        Self {
            array: start,
            x: 0,
            y: 0,
            z: 0,
            pitch: 0,
            height: 0,
        }
    }
}

/// A copy of `depth` slices of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memcpy {
    /// The destination.
    pub dst: MemcpyOperand,
    /// The source.
    pub src: MemcpyOperand,
    /// Bytes per row (`WidthInBytes`).
    pub width: u64,
    /// Rows per slice.
    pub height: u64,
    /// Slices; 1 for a two-dimensional copy.
    pub depth: u64,
}

impl Memcpy {
    /// Creates a copy of `bytes` contiguous bytes (`cuMemcpy`).
    pub fn linear(dst: MemcpyAddress, src: MemcpyAddress, bytes: u64) -> Self {
        Self {
            dst: MemcpyOperand::linear(dst),
            src: MemcpyOperand::linear(src),
            width: bytes,
            height: 1,
            depth: 1,
        }
    }
}

impl Driver {
    /// `cuMemcpy`, `cuMemcpy2D` and `cuMemcpy3D`: copies in the legacy default stream. In modelled time, the
    /// host waits for the copy unless both operands are in device memory. The modelled duration depends on
    /// the host memory: page-locked or pageable.
    ///
    /// An empty copy does nothing. Fails with [`CudaError::InvalidValue`] for null, freed or unknown memory,
    /// a device range that exceeds its allocation, a pitch less than the row, or overlapping slices.
    ///
    /// # Safety
    /// Host ranges must be readable (source) or writable (destination), and no other thread may access either
    /// range during the call.
    pub unsafe fn memcpy(&mut self, context: ContextId, copy: &Memcpy) -> Result<(), CudaError> {
        let stream = StreamId::LEGACY;
        // SAFETY: the host ranges are valid and unused by other threads, by this function's own contract.
        let ends = unsafe { self.run_memcpy(context, stream, copy) }?;
        if ends != [OperandMemory::Device; 2] {
            let context = self.context_mut(context)?;
            context.timeline.synchronize(stream)?;
        }
        Ok(())
    }

    /// `cuMemcpyAsync`, `cuMemcpy2DAsync` and `cuMemcpy3DAsync`: copies in `stream`. In modelled time, the
    /// host does not wait unless an operand is pageable memory, which the driver has to stage, or both
    /// operands are host memory.
    ///
    /// Fails with the errors of [`Driver::memcpy`], and with [`CudaError::InvalidHandle`] for an unknown
    /// stream.
    ///
    /// # Safety
    /// The requirements are those of [`Driver::memcpy`].
    pub unsafe fn memcpy_async(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Memcpy,
    ) -> Result<(), CudaError> {
        // SAFETY: the host ranges are valid and unused by other threads, by this function's own contract.
        let ends = unsafe { self.run_memcpy(context, stream, copy) }?;
        if host_waits(ends) {
            let context = self.context_mut(context)?;
            context.timeline.synchronize(stream)?;
        }
        Ok(())
    }

    /// Copies as a graph node that runs in `stream`: the host does not wait in modelled time. Fails with the
    /// errors of [`Driver::memcpy_async`].
    ///
    /// # Safety
    /// The requirements are those of [`Driver::memcpy`].
    pub unsafe fn memcpy_node(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Memcpy,
    ) -> Result<(), CudaError> {
        // SAFETY: the host ranges are valid and unused by other threads, by this function's own contract.
        unsafe { self.run_memcpy(context, stream, copy) }?;
        Ok(())
    }

    /// Validates a copy. Fails with the errors of [`Driver::memcpy`].
    pub fn check_memcpy(&self, context: ContextId, copy: &Memcpy) -> Result<(), CudaError> {
        self.context(context)?;
        self.resolve_operands(copy)?;
        Ok(())
    }

    /// Returns true if the host waits for a copy in a stream: an operand is pageable memory, or both are host
    /// memory. Returns false for an invalid copy.
    pub fn host_waits(&self, copy: &Memcpy) -> bool {
        let operands = self.resolve_operands(copy);
        operands.is_ok_and(|operands| {
            operands.is_some_and(|(dst, src, _)| host_waits([dst.memory, src.memory]))
        })
    }

    /// Returns the ranges that a copy writes and reads, each as the first address and the number of bytes
    /// from there to the end. Returns `None` for an empty or invalid copy.
    pub fn copy_spans(&self, copy: &Memcpy) -> Option<[(u64, u64); 2]> {
        let (dst, src, _) = self.resolve_operands(copy).ok()??;
        let span = |end: &ResolvedOperand| {
            let (slice, pitch) = (end.slice as u64, end.pitch as u64);
            (copy.depth - 1) * slice + (copy.height - 1) * pitch + copy.width
        };
        Some([(dst.address, span(&dst)), (src.address, span(&src))])
    }

    /// Returns the addresses that a copy writes and reads, by row. Returns `None` for an empty or invalid copy.
    pub fn copied_rows(&self, copy: &Memcpy) -> Option<[Vec<Range<u64>>; 2]> {
        let (dst, src, _) = self.resolve_operands(copy).ok()??;
        let rows = |end: &ResolvedOperand| {
            let pitches = [end.pitch as u64, end.slice as u64];
            memory_rows(end.address, copy.width, pitches, [copy.height, copy.depth])
        };
        Some([rows(&dst), rows(&src)])
    }

    /// Returns the destination, the source and the number of bytes of a copy; `None` for an empty copy.
    fn resolve_operands(
        &self,
        copy: &Memcpy,
    ) -> Result<Option<(ResolvedOperand, ResolvedOperand, u64)>, CudaError> {
        let bytes = copy
            .width
            .checked_mul(copy.height)
            .and_then(|bytes| bytes.checked_mul(copy.depth))
            .ok_or(CudaError::InvalidValue)?;
        if bytes == 0 {
            return Ok(None);
        }
        let dst = self.resolve_operand(CopyEnd::Destination, &copy.dst, copy)?;
        let src = self.resolve_operand(CopyEnd::Source, &copy.src, copy)?;
        Ok(Some((dst, src, bytes)))
    }

    /// Performs a copy and advances the modelled time of `stream`. Returns the kinds of memory of destination
    /// and source. The operands of an empty copy are not resolved: both are reported as
    /// [`OperandMemory::Device`], for which no caller waits.
    ///
    /// # Safety
    /// The requirements are those of [`Driver::memcpy`].
    unsafe fn run_memcpy(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Memcpy,
    ) -> Result<[OperandMemory; 2], CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        let Some((dst, src, bytes)) = self.resolve_operands(copy)? else {
            return Ok([OperandMemory::Device; 2]);
        };
        // SAFETY: `resolve_operands` found each device range inside one live allocation; host ranges are
        // valid by this function's contract.
        unsafe { copy_rows(&dst, &src, copy) };
        let rows = (0..copy.depth).flat_map(|z| (0..copy.height).map(move |y| (y, z)));
        let row = |end: &ResolvedOperand, (y, z): (u64, u64)| {
            end.address + y * end.pitch as u64 + z * end.slice as u64
        };
        let rows = rows.map(|at| (row(&dst, at), row(&src, at), copy.width));
        if self.options.checks.init && self.is_host_memory(dst.address) {
            let rows = rows.clone().map(|(_, from, bytes)| (from, bytes));
            self.check_coverage(src.address, rows);
        }
        self.note_input(dst.address, src.address, rows.clone());
        self.global
            .copy_initialization(dst.address, src.address, rows);

        let ends = [dst.memory, src.memory];
        let engine = match ends {
            [OperandMemory::Device, OperandMemory::Device] => Engine::DeviceToDevice,
            [OperandMemory::Device, _] => Engine::HostToDevice,
            [_, OperandMemory::Device] => Engine::DeviceToHost,
            [_, _] => Engine::Host,
        };
        let rate = match engine {
            // The rate between two devices was not measured; it is taken to be that between device and host.
            Engine::DeviceToDevice if dst.home != src.home => self.device.page_locked_copy,
            Engine::DeviceToDevice => self.device.device_copy,
            Engine::Host => self.device.host_copy,
            _ if ends.contains(&OperandMemory::Pageable) => self.device.pageable_copy,
            _ => self.device.page_locked_copy,
        };
        let context = self.context_mut(context)?;
        context.timeline.run(stream, engine, rate.seconds(bytes))?;
        Ok(ends)
    }
}

impl Driver {
    /// Returns true for memory that the host uses directly, whose initialization is not tracked.
    fn is_host_memory(&self, address: u64) -> bool {
        let allocation = self.global.allocation(address);
        !allocation.is_some_and(|allocation| allocation.kind.is_device_only())
    }

    /// Notes that a copy of rows of bytes, given as destination, source and length, uses the source. From the host, it
    /// writes input.
    fn note_input(&self, to: u64, from: u64, rows: impl Iterator<Item = (u64, u64, u64)> + Clone) {
        let written = rows.clone().map(|(to, _, bytes)| (to, bytes));
        if self.is_host_memory(from) {
            let line = || call_site::locate(None);
            self.global
                .add_input(to, InputOrigin::Copied, written, line);
        } else {
            self.global.use_input(to, written);
            let read = rows.map(|(_, from, bytes)| (from, bytes));
            self.global.use_input(from, read);
        }
    }

    /// Reports uninitialized elements among rows of bytes that are copied to the host.
    fn check_coverage(&mut self, address: u64, rows: impl Iterator<Item = (u64, u64)>) {
        if let Some(coverage) = self.global.coverage(address, rows)
            && let Some(allocation) = self.global.record(address)
        {
            self.findings
                .push(Finding::unwritten_result(coverage, allocation));
        }
    }
}

/// Returns true if the host waits for a copy in a stream between these kinds of memory.
fn host_waits(ends: [OperandMemory; 2]) -> bool {
    ends.contains(&OperandMemory::Pageable) || !ends.contains(&OperandMemory::Device)
}

/// Returns the addresses of slices of rows of `bytes` bytes, given the distances from row to row and from slice to
/// slice, and the numbers of both. Contiguous rows are joined.
pub(super) fn memory_rows(
    start: u64,
    bytes: u64,
    [pitch, slice]: [u64; 2],
    [height, depth]: [u64; 2],
) -> Vec<Range<u64>> {
    let mut rows: Vec<Range<u64>> = Vec::new();
    for row in (0..depth).flat_map(|z| (0..height).map(move |y| start + z * slice + y * pitch)) {
        match rows.last_mut() {
            Some(last) if last.end == row => last.end += bytes,
            _ => rows.push(row..row + bytes),
        }
    }
    rows
}

/// Copies all rows. If rows are contiguous in both operands, copies each slice as a whole.
unsafe fn copy_rows(dst: &ResolvedOperand, src: &ResolvedOperand, copy: &Memcpy) {
    let (width, height) = (copy.width as usize, copy.height as usize);
    for z in 0..copy.depth as usize {
        let (dst_slice, src_slice) = (
            dst.start.wrapping_add(z * dst.slice),
            src.start.wrapping_add(z * src.slice),
        );
        if dst.pitch == width && src.pitch == width {
            // SAFETY: the pitch equals the width in both operands, so the `height` rows of the slice are one
            // valid range.
            unsafe { std::ptr::copy(src_slice, dst_slice, width * height) };
            continue;
        }
        for y in 0..height {
            // SAFETY: row `y` of slice `z` is valid memory in both operands, by this function's contract.
            unsafe {
                std::ptr::copy(
                    src_slice.wrapping_add(y * src.pitch),
                    dst_slice.wrapping_add(y * dst.pitch),
                    width,
                );
            }
        }
    }
}

/// A valid source or destination of a copy: all its bytes are in one allocation, or in host memory that is
/// unknown to the simulator and that the caller guarantees to be valid.
struct ResolvedOperand {
    /// The host pointer to the first byte.
    start: *mut u8,
    /// The address of that byte in the program's address space.
    address: u64,
    /// Bytes from the start of a row to the start of the next.
    pitch: usize,
    /// Bytes from the start of a slice to the start of the next.
    slice: usize,
    memory: OperandMemory,
    /// The device that owns the memory, if any.
    home: Option<u32>,
}

/// The kind of memory of an operand, which determines the speed of the copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandMemory {
    /// Device or managed memory.
    Device,
    /// Page-locked host memory: allocated by the driver or registered.
    PageLocked,
    /// Any other host memory.
    Pageable,
}

impl Driver {
    /// Resolves one operand of `copy`. Fails with [`CudaError::InvalidValue`] for null, freed or unknown
    /// memory, a range that exceeds its allocation, a pitch less than the row, overlapping slices, or host memory
    /// passed as device memory.
    fn resolve_operand(
        &self,
        end: CopyEnd,
        operand: &MemcpyOperand,
        copy: &Memcpy,
    ) -> Result<ResolvedOperand, CudaError> {
        if let MemcpyAddress::Array(array) = operand.array {
            let from = [operand.x, operand.y, operand.z];
            self.check_array_copy(array, from, [copy.width, copy.height, copy.depth])?;
            let (base, pitch, height) = self.array_memory(array)?;
            let texels = MemcpyOperand {
                array: MemcpyAddress::Device(base),
                pitch,
                height,
                ..*operand
            };
            return self.resolve_operand(end, &texels, copy);
        }
        let invalid = |reason| CudaError::InvalidValue.because(reason);
        let (base, must_be_mapped) = match operand.array {
            MemcpyAddress::Host(host) => (host as u64, false),
            MemcpyAddress::Unified(address) => (address, address >= BASE),
            MemcpyAddress::Device(address) | MemcpyAddress::Array(address) => (address, true),
        };
        let allocation = self.global.allocation(base);
        // In mapped memory and in pools, an H200's driver compares only the width with the pitch, not the end of a row.
        let row = match allocation.map(|allocation| allocation.kind) {
            Some(AllocationKind::Pool | AllocationKind::Mapped) => copy.width,
            _ => operand.x.saturating_add(copy.width),
        };
        let extent = Extent::new(operand, copy, row).ok_or_else(|| {
            if (1..row).contains(&operand.pitch) {
                return invalid(Reason::WidthExceedsPitch(end, row, operand.pitch));
            }
            CudaError::InvalidValue
        })?;
        let first = base
            .checked_add(extent.offset)
            .ok_or(CudaError::InvalidValue)?;
        let past = first
            .checked_add(extent.span)
            .ok_or(CudaError::InvalidValue)?;

        let (start, memory, home) = match allocation {
            Some(allocation) => {
                let start = self.global.host(first, extent.span);
                let memory = match allocation.kind {
                    AllocationKind::Host | AllocationKind::Registered => OperandMemory::PageLocked,
                    _ => OperandMemory::Device,
                };
                // The allocation is known, so the range is bounds-checked even if it is host memory.
                let start = start.ok_or_else(|| {
                    let [first, past] = [first, past].map(|address| address - allocation.base);
                    invalid(Reason::PastAllocation(
                        end,
                        first,
                        past,
                        Bytes(allocation.size),
                    ))
                })?;
                (start, memory, Some(allocation.owner))
            }
            None if must_be_mapped || base == 0 || past > BASE => {
                return Err(invalid(self.range_error(end, base, [first, past])));
            }
            None => (first as *mut u8, OperandMemory::Pageable, None),
        };
        Ok(ResolvedOperand {
            start,
            address: first,
            pitch: extent.pitch as usize,
            slice: extent.slice as usize,
            memory,
            home,
        })
    }
}

impl Driver {
    /// Returns the reason for which a range of bytes, computed from the address `base`, is not in device memory.
    pub(super) fn range_error(&self, end: CopyEnd, base: u64, range: [u64; 2]) -> Reason {
        if base == 0 {
            return Reason::NullAddress(end);
        }
        if self.array_memory(base).is_ok() {
            return Reason::ArrayAsPointer(end);
        }
        if base < BASE && self.global.allocation(base).is_none() {
            return Reason::HostAsDevice(end, base);
        }
        // Unless it has been freed, the range probably belongs to the allocation before it, which ends too early.
        match self.global.neighbours(base).0 {
            Some(before) if self.global.freed(base).is_none() => {
                let [first, past] = range.map(|address| address - before.base);
                Reason::PastAllocation(end, first, past, Bytes(before.bytes))
            }
            _ => Reason::NotAllocated(end, base),
        }
    }
}

/// The range of bytes that a copy accesses in an operand. All fields are in bytes.
struct Extent {
    /// The offset from the operand's base to the first byte copied.
    offset: u64,
    /// The bytes from the first byte copied to the end of the last.
    span: u64,
    /// The bytes from the start of a row to the start of the next.
    pitch: u64,
    /// The bytes from the start of a slice to the start of the next.
    slice: u64,
}

impl Extent {
    /// Computes the range of a non-empty copy. Returns `None` if slices would overlap, the pitch exceeds [`MAX_PITCH`] or
    /// is less than `row`, or a number overflows.
    fn new(operand: &MemcpyOperand, copy: &Memcpy, row: u64) -> Option<Self> {
        let pitch = or_minimum(operand.pitch, row)?;
        if pitch > MAX_PITCH && operand.pitch != 0 {
            return None;
        }
        let rows = operand.y.checked_add(copy.height)?;
        // The height of a slice does not matter if there is only one.
        let rows = match (copy.depth, operand.z) {
            (1, 0) => rows,
            _ => or_minimum(operand.height, rows)?,
        };
        let slice = pitch.checked_mul(rows)?;
        let offset = operand
            .z
            .checked_mul(slice)?
            .checked_add(operand.y.checked_mul(pitch)?)?
            .checked_add(operand.x)?;
        let span = (copy.depth - 1)
            .checked_mul(slice)?
            .checked_add((copy.height - 1).checked_mul(pitch)?)?
            .checked_add(copy.width)?;
        Some(Self {
            offset,
            span,
            pitch,
            slice,
        })
    }
}

/// Returns `size`, or `needed` if `size` is 0. Returns `None` if `size` is nonzero and less than `needed`.
fn or_minimum(size: u64, needed: u64) -> Option<u64> {
    match size {
        0 => Some(needed),
        size if size >= needed => Some(size),
        _ => None,
    }
}

/// The fill value, by width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemsetValue {
    /// One byte.
    U8(u8),
    /// Two bytes; the address must be a multiple of 2.
    U16(u16),
    /// Four bytes; the address must be a multiple of 4.
    U32(u32),
}

/// The parameters of a fill: `height` rows of `width` values each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memset {
    /// The address of the first row.
    pub address: u64,
    /// Bytes from the start of a row to the start of the next. Ignored if there is only one row.
    pub pitch: u64,
    /// The fill value.
    pub value: MemsetValue,
    /// The number of values (not bytes) per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
}

impl Driver {
    /// `cuMemsetD8Async`, `cuMemsetD2D32Async` and the others: fills device memory in `stream`. The host does
    /// not wait, in modelled time.
    ///
    /// An empty fill does nothing. Fails with [`CudaError::InvalidValue`] for memory that is not in one live
    /// allocation, an address or pitch that is not a multiple of the value's width, or a pitch less than a
    /// row, and with [`CudaError::InvalidHandle`] for an unknown stream.
    pub fn memset(
        &mut self,
        context: ContextId,
        stream: StreamId,
        memset: &Memset,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        let Some((start, row)) = self.resolve_rows(memset)? else {
            return Ok(());
        };
        let rows = (0..memset.height).map(|y| (memset.address + y * memset.pitch, row));
        self.global.mark_initialized(memset.address, rows);
        let rows = (0..memset.height).map(|y| (memset.address + y * memset.pitch, row));
        let line = || call_site::locate(None);
        self.global
            .add_input(memset.address, InputOrigin::Set, rows, line);
        if self.options.checks.init {
            self.note_fill(memset);
        }
        for y in 0..memset.height {
            let row_start = start.wrapping_add((y * memset.pitch) as usize);
            // SAFETY: `resolve_rows` checked that all rows are in one live allocation, and `&mut self`
            // excludes launches and other fills.
            let bytes = unsafe { std::slice::from_raw_parts_mut(row_start, row as usize) };
            match memset.value {
                MemsetValue::U8(value) => bytes.fill(value),
                MemsetValue::U16(value) => repeat(bytes, value.to_le_bytes()),
                MemsetValue::U32(value) => repeat(bytes, value.to_le_bytes()),
            }
        }
        let written = (row * memset.height) as f64;
        let seconds = self.device.device_copy.latency + written / self.device.memory_bandwidth;
        let context = self.context_mut(context)?;
        context.timeline.run(stream, Engine::Compute, seconds)?;
        Ok(())
    }

    /// `cuStreamWriteValue32`, `cuStreamWriteValue64`: writes a value of 4 or 8 bytes to device memory in `stream`. Fails
    /// with the errors of [`Driver::memset`].
    pub fn write_value(
        &mut self,
        context: ContextId,
        stream: StreamId,
        address: u64,
        bytes: u64,
        value: u64,
    ) -> Result<(), CudaError> {
        for offset in (0..bytes).step_by(4) {
            let word = Memset {
                address: address + offset,
                pitch: 0,
                value: MemsetValue::U32((value >> (8 * offset)) as u32),
                width: 1,
                height: 1,
            };
            self.memset(context, stream, &word)?;
        }
        Ok(())
    }

    /// Returns the value of 4 or 8 bytes at an aligned address. Fails with [`CudaError::InvalidValue`] if it is not in
    /// one live allocation.
    pub fn read_value(&self, address: u64, bytes: u64) -> Result<u64, CudaError> {
        let host = self.global.host(address, bytes);
        let host = host.ok_or(CudaError::InvalidValue)?;
        // SAFETY: `host` returned a pointer to `bytes` bytes of an allocation, which is aligned as the address is. The
        // program may write to them at any time.
        Ok(unsafe {
            match bytes {
                8 => AtomicU64::from_ptr(host.cast()).load(Ordering::Acquire),
                _ => AtomicU32::from_ptr(host.cast())
                    .load(Ordering::Acquire)
                    .into(),
            }
        })
    }

    /// Notes a fill by bytes whose value suggests that the program means the value of an element.
    fn note_fill(&self, memset: &Memset) {
        /// Bytes that programs set on purpose: they give integers that serve as infinity.
        const INFINITIES: [u8; 2] = [0x3f, 0x7f];
        let fill = match memset.value {
            // 255 is -1 for integers of any size, but not for floats.
            MemsetValue::U8(value @ (1..=0x7f | 0xff)) if !INFINITIES.contains(&value) => {
                Some(ByteFill {
                    value,
                    source: call_site::locate(None),
                })
            }
            _ => None,
        };
        self.global.set_fill(memset.address, fill);
    }

    /// Validates a fill, except for its stream. Fails with the errors of [`Driver::memset`].
    pub fn check_memset(&self, context: ContextId, memset: &Memset) -> Result<(), CudaError> {
        self.context(context)?;
        self.resolve_rows(memset)?;
        Ok(())
    }

    /// Returns the host pointer to the first row of a fill and the bytes per row; `None` for an empty fill.
    fn resolve_rows(&self, memset: &Memset) -> Result<Option<(*mut u8, u64)>, CudaError> {
        if memset.width == 0 || memset.height == 0 {
            return Ok(None);
        }
        let (row, span) = memset.extent().ok_or(CudaError::InvalidValue)?;
        let start = self.global.host(memset.address, span);
        let start = start.ok_or_else(|| {
            let range = [memset.address, memset.address.saturating_add(span)];
            let reason = self.range_error(CopyEnd::Destination, memset.address, range);
            CudaError::InvalidValue.because(reason)
        })?;
        Ok(Some((start, row)))
    }
}

impl Memset {
    /// Returns the addresses that a valid fill writes, by row.
    pub fn rows(&self) -> Vec<Range<u64>> {
        let is_empty = self.width == 0 || self.height == 0;
        let extent = if is_empty { None } else { self.extent() };
        let Some((row, _)) = extent else {
            return Vec::new();
        };
        memory_rows(self.address, row, [self.pitch, 0], [self.height, 1])
    }

    /// Returns the bytes per row, and the bytes from the start of the first row to the end of the last, of a
    /// non-empty fill. Returns `None` if the address or the pitch is not a multiple of the value's width, the
    /// pitch is less than a row or too large, or a number overflows.
    fn extent(&self) -> Option<(u64, u64)> {
        let element = match self.value {
            MemsetValue::U8(_) => 1,
            MemsetValue::U16(_) => 2,
            MemsetValue::U32(_) => 4,
        };
        let row = self.width.checked_mul(element)?;
        let pitched = self.height > 1;
        let bad_pitch =
            self.pitch < row || self.pitch > MAX_PITCH || !self.pitch.is_multiple_of(element);
        if !self.address.is_multiple_of(element) || (pitched && bad_pitch) {
            return None;
        }
        let pitch = if pitched { self.pitch } else { 0 };
        let last = pitch.checked_mul(self.height - 1)?;
        Some((row, last.checked_add(row)?))
    }
}

/// Fills `bytes` with as many whole copies of `value` as fit.
fn repeat<const N: usize>(bytes: &mut [u8], value: [u8; N]) {
    for chunk in bytes.chunks_exact_mut(N) {
        chunk.copy_from_slice(&value);
    }
}
