//! Copies (`cuMemcpy…`): one routine for one, two and three dimensions, between host and device in all
//! directions.

mod operand;
mod params;
#[cfg(test)]
mod tests;

pub use params::{Memcpy, MemcpyAddress, MemcpyOperand};

use self::operand::{OperandMemory, ResolvedOperand};
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};

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

    /// Returns the destination, the source and the number of bytes of a copy; `None` for an empty copy.
    fn resolve_operands(
        &self,
        copy: &Memcpy,
    ) -> Result<Option<(ResolvedOperand, ResolvedOperand, u64)>, CudaError> {
        let bytes = copy.width.checked_mul(copy.height);
        let bytes = bytes.and_then(|bytes| bytes.checked_mul(copy.depth));
        let bytes = bytes.ok_or(CudaError::InvalidValue)?;
        if bytes == 0 {
            return Ok(None);
        }
        let dst = self.resolve_operand(&copy.dst, copy)?;
        let src = self.resolve_operand(&copy.src, copy)?;
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

/// Returns true if the host waits for a copy in a stream between these kinds of memory.
fn host_waits(ends: [OperandMemory; 2]) -> bool {
    ends.contains(&OperandMemory::Pageable) || !ends.contains(&OperandMemory::Device)
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
