//! The source or the destination of a copy, looked up in the simulated memory and checked.

use super::params::{Memcpy, MemcpyAddress, MemcpyOperand};
use crate::driver::memory::MAX_PITCH;
use crate::driver::{CudaError, Driver};
use crate::memory::global::{AllocationKind, BASE};

/// The source or the destination of a copy that may be done: all its bytes are in one allocation,
/// or in host memory that the simulator does not know and the caller answers for.
pub(super) struct FoundOperand {
    /// The first byte of the copy, as the host reaches it.
    pub(super) start: *mut u8,
    /// The address of that byte as programs know it.
    pub(super) address: u64,
    /// Bytes from the start of a row to the start of the next.
    pub(super) pitch: usize,
    /// Bytes from the start of a slice to the start of the next.
    pub(super) slice: usize,
    pub(super) memory: OperandMemory,
    /// The device whose memory it is, if any's.
    pub(super) home: Option<u32>,
}

/// The kind of memory that an end of a copy is in: how fast the copy is depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandMemory {
    /// Device or managed memory.
    Device,
    /// Host memory that the device reaches by itself: allocated by the driver or registered.
    PageLocked,
    /// Any other host memory.
    Pageable,
}

impl Driver {
    /// Finds one end of `copy`. [`CudaError::InvalidValue`]: null, freed or unknown memory, a range
    /// that leaves its allocation, a pitch less than the row, slices that overlap, device memory
    /// given as host memory.
    pub(super) fn find_operand(
        &self,
        operand: &MemcpyOperand,
        copy: &Memcpy,
    ) -> Result<FoundOperand, CudaError> {
        if let MemcpyAddress::Array(array) = operand.array {
            let from = [operand.x, operand.y, operand.z];
            self.array_takes(array, from, [copy.width, copy.height, copy.depth])?;
            let (base, pitch, height) = self.array_memory(array)?;
            let texels = MemcpyOperand {
                array: MemcpyAddress::Device(base),
                pitch,
                height,
                ..*operand
            };
            return self.find_operand(&texels, copy);
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
            Some(found) => {
                let start = self.global.host(first, extent.span);
                let memory = match found.kind {
                    AllocationKind::Device | AllocationKind::Managed | AllocationKind::Mapped => {
                        OperandMemory::Device
                    }
                    AllocationKind::Host | AllocationKind::Registered => OperandMemory::PageLocked,
                };
                // The allocation is known, so its end is too, even where it is host memory.
                (
                    start.ok_or(CudaError::InvalidValue)?,
                    memory,
                    Some(found.home),
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
        Ok(FoundOperand {
            start,
            address: first,
            pitch: extent.pitch as usize,
            slice: extent.slice as usize,
            memory,
            home,
        })
    }
}

/// Which bytes of an array a copy touches. All in bytes.
struct Extent {
    /// From the start of the array to the first byte copied.
    offset: u64,
    /// From the first byte copied to past the last.
    span: u64,
    /// From the start of a row to the start of the next.
    pitch: u64,
    /// From the start of a slice to the start of the next.
    slice: u64,
}

impl Extent {
    /// `None` if rows or slices would overlap, the pitch is above [`MAX_PITCH`] or a number
    /// overflows. The copy is not empty.
    fn new(operand: &MemcpyOperand, copy: &Memcpy) -> Option<Self> {
        let row = operand.x.checked_add(copy.width)?;
        let pitch = at_least(operand.pitch, row)?;
        if pitch > MAX_PITCH && operand.pitch != 0 {
            return None;
        }
        let rows = operand.y.checked_add(copy.height)?;
        // With a single slice the height of a slice means nothing.
        let rows = match (copy.depth, operand.z) {
            (1, 0) => rows,
            _ => at_least(operand.height, rows)?,
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

/// `given`, or `needed` where `given` is 0; `None` if what is given is less than what is needed.
fn at_least(given: u64, needed: u64) -> Option<u64> {
    match given {
        0 => Some(needed),
        enough if enough >= needed => Some(enough),
        _ => None,
    }
}
