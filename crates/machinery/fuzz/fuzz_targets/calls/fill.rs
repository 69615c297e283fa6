//! Memory set to one value.

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::known::{Known, Where};

#[derive(Arbitrary, Debug)]
pub enum Call {
    Bytes(Where, u8, usize),
    Halves(Where, u16, usize),
    Words(Where, u32, usize),
    /// Rows of bytes, halves or words: pitch, value, width, height.
    Rows(Where, usize, u8, usize, usize, u8),
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &Known) {
        // SAFETY: an address is a number, which the driver has to make sure of.
        unsafe {
            match self {
                Call::Bytes(to, value, n) => cuMemsetD8_v2(known.address(to), value, n),
                Call::Halves(to, value, n) => cuMemsetD16_v2(known.address(to), value, n),
                Call::Words(to, value, n) => cuMemsetD32_v2(known.address(to), value, n),
                Call::Rows(to, pitch, value, width, height, unit) => {
                    let to = known.address(to);
                    match unit % 3 {
                        0 => cuMemsetD2D8_v2(to, pitch, value, width, height),
                        1 => cuMemsetD2D16_v2(to, pitch, value.into(), width, height),
                        _ => cuMemsetD2D32_v2(to, pitch, value.into(), width, height),
                    }
                }
            };
        }
    }
}
