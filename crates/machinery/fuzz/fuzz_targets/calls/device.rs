//! What the device is asked.

use std::ffi::c_int;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::known::Known;

#[derive(Arbitrary, Debug)]
pub enum Call {
    Attribute(i16, i8),
    Name(u8, i8),
    MemoryInfo,
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &mut Known) {
        let (mut int, mut size) = (0, 0);
        // SAFETY: there is room for the name.
        unsafe {
            match self {
                Call::Attribute(attribute, device) => {
                    cuDeviceGetAttribute(&mut int, attribute.into(), device.into());
                }
                Call::Name(bytes, device) => {
                    cuDeviceGetName(known.host().cast(), c_int::from(bytes), device.into());
                }
                Call::MemoryInfo => {
                    cuMemGetInfo_v2(&mut size, &mut 0);
                }
            }
        }
    }
}
