//! Fills of memory with one value.

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::state::{Address, State};

#[derive(Arbitrary, Debug)]
pub enum Call {
    Bytes(Address, u8, usize),
    Halves(Address, u16, usize),
    Words(Address, u32, usize),
    /// A fill of rows of bytes, halves or words: address, pitch, value, width, height, element size.
    Fill2D(Address, usize, u8, usize, usize, u8),
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &State) {
        // SAFETY: these calls take only device addresses, which the driver validates.
        unsafe {
            match self {
                Call::Bytes(to, value, n) => cuMemsetD8_v2(state.address(to), value, n),
                Call::Halves(to, value, n) => cuMemsetD16_v2(state.address(to), value, n),
                Call::Words(to, value, n) => cuMemsetD32_v2(state.address(to), value, n),
                Call::Fill2D(to, pitch, value, width, height, unit) => {
                    let to = state.address(to);
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
