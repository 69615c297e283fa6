//! Queries of the device.

use std::ffi::c_int;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::state::State;

#[derive(Arbitrary, Debug)]
pub enum Call {
    Attribute(i16, i8),
    Name(u8, i8),
    MemoryInfo,
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &mut State) {
        let (mut int, mut size) = (0, 0);
        // SAFETY: the host memory is larger than the longest name that is requested (255 bytes); the other
        // out-pointers are to live locals.
        unsafe {
            match self {
                Call::Attribute(attribute, device) => {
                    cuDeviceGetAttribute(&mut int, attribute.into(), device.into());
                }
                Call::Name(bytes, device) => {
                    cuDeviceGetName(state.host().cast(), c_int::from(bytes), device.into());
                }
                Call::MemoryInfo => {
                    cuMemGetInfo_v2(&mut size, &mut 0);
                }
            }
        }
    }
}
