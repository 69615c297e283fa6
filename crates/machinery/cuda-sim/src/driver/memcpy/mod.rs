//! Copies (`cuMemcpy…`): one routine for one, two and three dimensions, between host and device in
//! either direction.

mod operand;
mod params;
#[cfg(test)]
mod tests;

pub use params::{Memcpy, MemcpyAddress, MemcpyOperand};

use self::operand::{FoundOperand, OperandMemory};
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};

impl Driver {
    /// `cuMemcpy`, `cuMemcpy2D` and `cuMemcpy3D`: copies in the legacy default stream. In modelled
    /// time the host waits for the copy, unless both ends are on the device. How long the copy takes
    /// depends on the host memory: page-locked or pageable.
    ///
    /// An empty copy does nothing. [`CudaError::InvalidValue`]: null, freed or unknown memory, a
    /// device range that leaves its allocation, a pitch less than the row or slices that overlap.
    ///
    /// # Safety
    /// Host ranges must be readable (source) or writable (destination), and no other thread may
    /// use either range meanwhile.
    pub unsafe fn memcpy(&mut self, context: ContextId, copy: &Memcpy) -> Result<(), CudaError> {
        let stream = StreamId::LEGACY;
        // SAFETY: the caller's promise.
        let ends = unsafe { self.run_memcpy(context, stream, copy) }?;
        if ends != [OperandMemory::Device; 2] {
            let context = self.context_mut(context)?;
            context.timeline.synchronize(stream)?;
        }
        Ok(())
    }

    /// `cuMemcpyAsync`, `cuMemcpy2DAsync` and `cuMemcpy3DAsync`: copies in `stream`. In modelled time
    /// the host does not wait, unless an end is pageable memory, which the driver itself has to read
    /// or write, or both ends are the host's.
    ///
    /// Errors are those of [`Driver::memcpy`], and [`CudaError::InvalidHandle`] for an unknown
    /// stream.
    ///
    /// # Safety
    /// As [`Driver::memcpy`].
    pub unsafe fn memcpy_async(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Memcpy,
    ) -> Result<(), CudaError> {
        // SAFETY: the caller's promise.
        let ends = unsafe { self.run_memcpy(context, stream, copy) }?;
        if host_waits(ends) {
            let context = self.context_mut(context)?;
            context.timeline.synchronize(stream)?;
        }
        Ok(())
    }

    /// A copy as a node of a graph that runs in `stream`: the host waits for none of it, in modelled
    /// time. Errors are those of [`Driver::memcpy_async`].
    ///
    /// # Safety
    /// As [`Driver::memcpy`].
    pub unsafe fn memcpy_node(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Memcpy,
    ) -> Result<(), CudaError> {
        // SAFETY: the caller's promise.
        unsafe { self.run_memcpy(context, stream, copy) }?;
        Ok(())
    }

    /// Refuses a copy that [`Driver::memcpy`] would refuse; the errors are the same.
    pub fn check_memcpy(&self, context: ContextId, copy: &Memcpy) -> Result<(), CudaError> {
        self.context(context)?;
        self.find_operands(copy)?;
        Ok(())
    }

    /// Whether the host waits for a copy in a stream: where an end is pageable memory, or both are the
    /// host's. False for a copy that is refused.
    pub fn host_waits(&self, copy: &Memcpy) -> bool {
        let found = self.find_operands(copy);
        found.is_ok_and(|found| {
            found.is_some_and(|(dst, src, _)| host_waits([dst.memory, src.memory]))
        })
    }

    /// The first address and the bytes from there to the last that a copy writes, and the same of what it
    /// reads; none for a copy that is empty or refused.
    pub fn copy_spans(&self, copy: &Memcpy) -> Option<[(u64, u64); 2]> {
        let (dst, src, _) = self.find_operands(copy).ok()??;
        let span = |end: &FoundOperand| {
            let (slice, pitch) = (end.slice as u64, end.pitch as u64);
            (copy.depth - 1) * slice + (copy.height - 1) * pitch + copy.width
        };
        Some([(dst.address, span(&dst)), (src.address, span(&src))])
    }

    /// The destination, the source and the bytes of a copy; `None` for an empty one.
    fn find_operands(
        &self,
        copy: &Memcpy,
    ) -> Result<Option<(FoundOperand, FoundOperand, u64)>, CudaError> {
        let bytes = copy.width.checked_mul(copy.height);
        let bytes = bytes.and_then(|bytes| bytes.checked_mul(copy.depth));
        let bytes = bytes.ok_or(CudaError::InvalidValue)?;
        if bytes == 0 {
            return Ok(None);
        }
        let dst = self.find_operand(&copy.dst, copy)?;
        let src = self.find_operand(&copy.src, copy)?;
        Ok(Some((dst, src, bytes)))
    }

    /// Copies, and lets modelled time pass in `stream`. Returns the kinds of memory that
    /// destination and source are in. Those of an empty copy are not looked up: it answers
    /// [`OperandMemory::Device`] for both, for which no caller waits.
    ///
    /// # Safety
    /// As [`Driver::memcpy`].
    unsafe fn run_memcpy(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Memcpy,
    ) -> Result<[OperandMemory; 2], CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        let Some((dst, src, bytes)) = self.find_operands(copy)? else {
            return Ok([OperandMemory::Device; 2]);
        };
        // SAFETY: device ranges were found inside one live allocation, host ranges are the
        // caller's promise.
        unsafe { copy_rows(&dst, &src, copy) };
        let rows = (0..copy.depth).flat_map(|z| (0..copy.height).map(move |y| (y, z)));
        let row = |end: &FoundOperand, (y, z): (u64, u64)| {
            end.address + y * end.pitch as u64 + z * end.slice as u64
        };
        let rows = rows.map(|at| (row(&dst, at), row(&src, at), copy.width));
        self.global.copied(dst.address, src.address, rows);

        let ends = [dst.memory, src.memory];
        let engine = match ends {
            [OperandMemory::Device, OperandMemory::Device] => Engine::DeviceToDevice,
            [OperandMemory::Device, _] => Engine::HostToDevice,
            [_, OperandMemory::Device] => Engine::DeviceToHost,
            [_, _] => Engine::Host,
        };
        let rate = match engine {
            // What is between two devices was not measured: it counts as what is between one and the host.
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

/// Whether the host waits for a copy in a stream between these kinds of memory.
fn host_waits(ends: [OperandMemory; 2]) -> bool {
    ends.contains(&OperandMemory::Pageable) || !ends.contains(&OperandMemory::Device)
}

/// Copies all rows. Where they lie close together at both ends, a slice goes as one piece.
///
/// # Safety
/// All rows at both ends must be valid memory.
unsafe fn copy_rows(dst: &FoundOperand, src: &FoundOperand, copy: &Memcpy) {
    let (width, height) = (copy.width as usize, copy.height as usize);
    for z in 0..copy.depth as usize {
        let (dst_slice, src_slice) = (
            dst.start.wrapping_add(z * dst.slice),
            src.start.wrapping_add(z * src.slice),
        );
        if dst.pitch == width && src.pitch == width {
            // SAFETY: the rows of a slice lie close together at both ends, and are valid.
            unsafe { std::ptr::copy(src_slice, dst_slice, width * height) };
            continue;
        }
        for y in 0..height {
            // SAFETY: row `y` of slice `z` is valid at both ends.
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
