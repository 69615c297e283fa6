//! Fills (`cuMemset…`): set device memory to one repeated value.

use super::memcpy::memory_rows;
use super::memory::MAX_PITCH;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};
use crate::check::call_site;
use crate::check::reason::CopyEnd;
use crate::memory::coverage::InputOrigin;
use crate::memory::global::ByteFill;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;
    use crate::driver::{Memcpy, MemcpyAddress};

    fn read(driver: &mut Driver, context: ContextId, address: u64, bytes: usize) -> Vec<u8> {
        let mut output = vec![0; bytes];
        let to = MemcpyAddress::Host(output.as_mut_ptr());
        let copy = Memcpy::linear(to, MemcpyAddress::Device(address), bytes as u64);
        // SAFETY: `output` has `bytes` bytes.
        unsafe { driver.memcpy(context, &copy) }.unwrap();
        output
    }

    #[test]
    fn all_value_widths_are_filled() {
        let (mut driver, context) = driver();
        let address = driver.allocate(context, 16).unwrap();
        let cases = [
            (MemsetValue::U8(1), 4, vec![1, 1, 1, 1, 0, 0, 0, 0]),
            (MemsetValue::U16(0x0302), 3, vec![2, 3, 2, 3, 2, 3, 0, 0]),
            (MemsetValue::U32(0x0706_0504), 2, [4, 5, 6, 7].repeat(2)),
        ];
        for (value, width, expected) in cases {
            let (pitch, height) = (0, 1);
            let memset = Memset {
                address,
                pitch,
                value,
                width,
                height,
            };
            driver.memset(context, StreamId::LEGACY, &memset).unwrap();
            assert_eq!(read(&mut driver, context, address, 8), expected);
        }
    }

    #[test]
    fn row_padding_is_unchanged() {
        let (mut driver, context) = driver();
        let (address, pitch) = driver.allocate_pitched(context, 6, 3, 4).unwrap();
        let memset = Memset {
            address,
            pitch,
            value: MemsetValue::U16(0x0505),
            width: 3,
            height: 3,
        };
        driver.memset(context, StreamId::LEGACY, &memset).unwrap();
        let bytes = read(&mut driver, context, address, 3 * pitch as usize);
        for row in bytes.chunks(pitch as usize) {
            assert_eq!(row[..6], [5; 6]);
            assert!(row[6..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn invalid_ranges_and_alignments_are_rejected() {
        let (mut driver, context) = driver();
        let (address, pitch) = driver.allocate_pitched(context, 512, 4, 4).unwrap();
        let valid = Memset {
            address,
            pitch,
            value: MemsetValue::U32(1),
            width: 128,
            height: 4,
        };
        assert_eq!(driver.memset(context, StreamId::LEGACY, &valid), Ok(()));
        let mut invalid = [valid; 8];
        invalid[0].address = address + 2;
        invalid[0].width = 1;
        invalid[1].address = address + 4;
        invalid[2].address = 0;
        invalid[3].height = 5;
        invalid[4].pitch = 508;
        invalid[5].pitch = 514;
        invalid[6].width = u64::MAX;
        invalid[7].height = u64::MAX;
        for memset in invalid {
            assert_eq!(
                driver.memset(context, StreamId::LEGACY, &memset),
                Err(CudaError::InvalidValue),
                "{memset:?}"
            );
        }
        assert_eq!(
            driver.memset(context, StreamId(99), &valid),
            Err(CudaError::InvalidHandle)
        );
        let empty = Memset {
            address: 0,
            width: 0,
            ..valid
        };
        assert_eq!(driver.memset(context, StreamId::LEGACY, &empty), Ok(()));
    }
}
