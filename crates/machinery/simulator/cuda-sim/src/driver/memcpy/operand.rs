//! Resolution and validation of the operands of a copy.

use super::params::{Memcpy, MemcpyAddress, MemcpyOperand};
use crate::driver::memory::MAX_PITCH;
use crate::driver::{CudaError, Driver};
use crate::memory::global::{AllocationKind, BASE};

/// A valid source or destination of a copy: all its bytes are in one allocation, or in host memory that is
/// unknown to the simulator and that the caller guarantees to be valid.
pub(super) struct ResolvedOperand {
    /// The host pointer to the first byte.
    pub(super) start: *mut u8,
    /// The address of that byte in the program's address space.
    pub(super) address: u64,
    /// Bytes from the start of a row to the start of the next.
    pub(super) pitch: usize,
    /// Bytes from the start of a slice to the start of the next.
    pub(super) slice: usize,
    pub(super) memory: OperandMemory,
    /// The device that owns the memory, if any.
    pub(super) home: Option<u32>,
}

/// The kind of memory of an operand, which determines the speed of the copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandMemory {
    /// Device or managed memory.
    Device,
    /// Page-locked host memory: allocated by the driver or registered.
    PageLocked,
    /// Any other host memory.
    Pageable,
}

impl Driver {
    /// Resolves one operand of `copy`. Fails with [`CudaError::InvalidValue`] for null, freed or unknown
    /// memory, a range that exceeds its allocation, a pitch less than the row, overlapping slices, or device
    /// memory passed as host memory.
    pub(super) fn resolve_operand(
        &self,
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
            return self.resolve_operand(&texels, copy);
        }
        let extent = Extent::new(operand, copy).ok_or(CudaError::InvalidValue)?;
        let (base, must_be_mapped) = match operand.array {
            MemcpyAddress::Host(host) => (host as u64, false),
            MemcpyAddress::Unified(address) => (address, address >= BASE),
            MemcpyAddress::Device(address) | MemcpyAddress::Array(address) => (address, true),
        };
        let first = base.checked_add(extent.offset);
        let first = first.ok_or(CudaError::InvalidValue)?;
        let past = first.checked_add(extent.span);
        let past = past.ok_or(CudaError::InvalidValue)?;

        let (start, memory, home) = match self.global.allocation(base) {
            Some(allocation) => {
                let start = self.global.host(first, extent.span);
                let memory = match allocation.kind {
                    AllocationKind::Device | AllocationKind::Managed | AllocationKind::Mapped => {
                        OperandMemory::Device
                    }
                    AllocationKind::Host | AllocationKind::Registered => OperandMemory::PageLocked,
                };
                // The allocation is known, so the range is bounds-checked even if it is host memory.
                (
                    start.ok_or(CudaError::InvalidValue)?,
                    memory,
                    Some(allocation.owner),
                )
            }
            None if must_be_mapped || base == 0 || past > BASE => {
                return Err(CudaError::InvalidValue);
            }
            None => (first as *mut u8, OperandMemory::Pageable, None),
        };
        if matches!(operand.array, MemcpyAddress::Host(_)) && base >= BASE {
            return Err(CudaError::InvalidValue);
        }
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
    /// Computes the range of a non-empty copy. Returns `None` if rows or slices would overlap, the pitch
    /// exceeds [`MAX_PITCH`], or a number overflows.
    fn new(operand: &MemcpyOperand, copy: &Memcpy) -> Option<Self> {
        let row = operand.x.checked_add(copy.width)?;
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
        let offset = operand.z.checked_mul(slice)?;
        let offset = offset.checked_add(operand.y.checked_mul(pitch)?)?;
        let offset = offset.checked_add(operand.x)?;
        let span = (copy.depth - 1).checked_mul(slice)?;
        let span = span.checked_add((copy.height - 1).checked_mul(pitch)?)?;
        let span = span.checked_add(copy.width)?;
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
