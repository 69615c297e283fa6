//! Fills: device memory set to one repeated value.

use super::memory::MAX_PITCH;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};

/// The value of a fill, by its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// One byte.
    U8(u8),
    /// Two bytes; the address must be a multiple of 2.
    U16(u16),
    /// Four bytes; the address must be a multiple of 4.
    U32(u32),
}

/// `height` rows of `width` values, `pitch` bytes apart (of no meaning with a single row).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Where the first row starts.
    pub address: u64,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// What to write.
    pub value: Value,
    /// Values in a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
}

impl Driver {
    /// Fills device memory in `stream`. The host does not wait, in modelled time.
    ///
    /// An empty fill does nothing. [`CudaError::InvalidValue`]: memory that is not one live
    /// allocation, an address or pitch that is not a multiple of the value's width, a pitch less
    /// than a row.
    pub fn fill(
        &mut self,
        context: ContextId,
        stream: StreamId,
        fill: &Fill,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        if fill.width == 0 || fill.height == 0 {
            return Ok(());
        }
        let (row, span) = fill.extent().ok_or(CudaError::InvalidValue)?;
        let start = self.global.host(fill.address, span);
        let start = start.ok_or(CudaError::InvalidValue)?;
        let rows = (0..fill.height).map(|y| (fill.address + y * fill.pitch, row));
        self.global.wrote(fill.address, rows);
        for y in 0..fill.height {
            let row_start = start.wrapping_add((y * fill.pitch) as usize);
            // SAFETY: all `span` bytes from `start`, so every row, are in one live allocation, and
            // `&mut self` keeps launches and other fills away.
            let bytes = unsafe { std::slice::from_raw_parts_mut(row_start, row as usize) };
            match fill.value {
                Value::U8(value) => bytes.fill(value),
                Value::U16(value) => repeat(bytes, value.to_le_bytes()),
                Value::U32(value) => repeat(bytes, value.to_le_bytes()),
            }
        }
        let written = (row * fill.height) as f64;
        let seconds = self.device.device_copy.latency + written / self.device.memory_bandwidth;
        let context = self.context_mut(context)?;
        context.timeline.run(stream, Engine::Compute, seconds)?;
        Ok(())
    }
}

impl Fill {
    /// Bytes of a row and bytes from the first written to past the last; `None` if misaligned or
    /// too narrow.
    fn extent(&self) -> Option<(u64, u64)> {
        let element = match self.value {
            Value::U8(_) => 1,
            Value::U16(_) => 2,
            Value::U32(_) => 4,
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

fn repeat<const N: usize>(bytes: &mut [u8], value: [u8; N]) {
    for chunk in bytes.chunks_exact_mut(N) {
        chunk.copy_from_slice(&value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;
    use crate::driver::{Copy, Memory};

    fn read(driver: &mut Driver, context: ContextId, address: u64, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        let to = Memory::Host(found.as_mut_ptr());
        let copy = Copy::linear(to, Memory::Device(address), bytes as u64);
        // SAFETY: `found` holds `bytes` bytes.
        unsafe { driver.copy(context, &copy) }.unwrap();
        found
    }

    #[test]
    fn every_width_is_repeated() {
        let (mut driver, context) = driver();
        let address = driver.allocate(context, 16).unwrap();
        let cases = [
            (Value::U8(1), 4, vec![1, 1, 1, 1, 0, 0, 0, 0]),
            (Value::U16(0x0302), 3, vec![2, 3, 2, 3, 2, 3, 0, 0]),
            (Value::U32(0x0706_0504), 2, vec![4, 5, 6, 7, 4, 5, 6, 7]),
        ];
        for (value, width, expected) in cases {
            let fill = Fill {
                address,
                pitch: 0,
                value,
                width,
                height: 1,
            };
            driver.fill(context, StreamId::LEGACY, &fill).unwrap();
            assert_eq!(read(&mut driver, context, address, 8), expected);
        }
    }

    #[test]
    fn rows_leave_their_padding_alone() {
        let (mut driver, context) = driver();
        let (address, pitch) = driver.allocate_pitched(context, 6, 3, 4).unwrap();
        let fill = Fill {
            address,
            pitch,
            value: Value::U16(0x0505),
            width: 3,
            height: 3,
        };
        driver.fill(context, StreamId::LEGACY, &fill).unwrap();
        let bytes = read(&mut driver, context, address, 3 * pitch as usize);
        for row in bytes.chunks(pitch as usize) {
            assert_eq!(row[..6], [5; 6]);
            assert!(row[6..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn what_is_outside_or_misaligned_is_refused() {
        let (mut driver, context) = driver();
        let (address, pitch) = driver.allocate_pitched(context, 512, 4, 4).unwrap();
        let good = Fill {
            address,
            pitch,
            value: Value::U32(1),
            width: 128,
            height: 4,
        };
        assert_eq!(driver.fill(context, StreamId::LEGACY, &good), Ok(()));
        let bad = [
            Fill {
                address: address + 2,
                width: 1,
                ..good
            },
            Fill {
                address: address + 4,
                ..good
            },
            Fill { address: 0, ..good },
            Fill { height: 5, ..good },
            Fill { pitch: 508, ..good },
            Fill { pitch: 514, ..good },
            Fill {
                width: u64::MAX,
                ..good
            },
            Fill {
                height: u64::MAX,
                ..good
            },
        ];
        for fill in bad {
            assert_eq!(
                driver.fill(context, StreamId::LEGACY, &fill),
                Err(CudaError::InvalidValue),
                "{fill:?}"
            );
        }
        assert_eq!(
            driver.fill(context, StreamId(99), &good),
            Err(CudaError::InvalidHandle)
        );
        let nothing = Fill {
            address: 0,
            width: 0,
            ..good
        };
        assert_eq!(driver.fill(context, StreamId::LEGACY, &nothing), Ok(()));
    }
}
