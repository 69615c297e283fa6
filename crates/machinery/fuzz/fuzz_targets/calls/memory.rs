//! Memory of every kind: had, given back, asked about.

use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::known::{HOST, Known, Where};

#[derive(Arbitrary, Debug)]
pub enum Call {
    Allocate(u32),
    AllocateMuch(usize),
    AllocatePitched(usize, usize, u32),
    AllocateManaged(u16, u32),
    AllocateHost(u16, u32),
    Free(Where),
    FreeHost(Where),
    Register(u16, u16, u32),
    Unregister(u16),
    AddressRange(Where),
    PointerAttribute(Where, u8),
    Advise(Where, usize, u8),
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &mut Known) {
        let at = known.host();
        let (mut size, mut address) = (0, 0);
        // SAFETY: what is registered are bytes of the host's; an address is a number, which the
        // driver has to make sure of.
        unsafe {
            match self {
                Call::Allocate(bytes) => {
                    // Half a megabyte at most: what is written lies in memory for real.
                    if cuMemAlloc_v2(&mut address, bytes as usize % (1 << 19)) == 0 {
                        known.addresses.push(address);
                    }
                }
                Call::AllocateMuch(bytes) => {
                    if cuMemAlloc_v2(&mut address, bytes) == 0 {
                        cuMemFree_v2(address);
                    }
                }
                Call::AllocatePitched(width, height, element) => {
                    if cuMemAllocPitch_v2(&mut address, &mut size, width, height, element) == 0 {
                        cuMemFree_v2(address);
                    }
                }
                Call::AllocateManaged(bytes, flags) => {
                    if cuMemAllocManaged(&mut address, bytes.into(), flags) == 0 {
                        cuMemsetD8_v2(address, 1, bytes.into());
                        cuMemFree_v2(address);
                    }
                }
                Call::AllocateHost(bytes, flags) => {
                    let mut pointer = null_mut();
                    if cuMemHostAlloc(&mut pointer, bytes.into(), flags) == 0 {
                        cuMemHostGetDevicePointer_v2(&mut address, pointer, 0);
                        cuMemFreeHost(pointer);
                    }
                }
                Call::Free(place) => {
                    cuMemFree_v2(known.address(place));
                }
                Call::FreeHost(place) => {
                    let place = known.address(place) as usize;
                    cuMemFreeHost(std::ptr::without_provenance_mut(place));
                }
                Call::Register(from, bytes, flags) => {
                    let from = usize::from(from) % HOST;
                    let bytes = usize::from(bytes).min(HOST - from);
                    let start = at.byte_add(from);
                    if cuMemHostRegister_v2(start, bytes, flags) == 0 {
                        known.registered.push(start);
                    }
                }
                Call::Unregister(from) => {
                    cuMemHostUnregister(at.byte_add(usize::from(from) % HOST));
                }
                Call::AddressRange(place) => {
                    cuMemGetAddressRange_v2(&mut address, &mut size, known.address(place));
                }
                Call::PointerAttribute(place, attribute) => {
                    // Room for the longest.
                    let mut value = [0u64; 8];
                    let value = value.as_mut_ptr().cast();
                    cuPointerGetAttribute(value, attribute.into(), known.address(place));
                }
                Call::Advise(place, bytes, advice) => {
                    let place = known.address(place);
                    cuMemAdvise(place, bytes, advice.into(), 0);
                    cuMemPrefetchAsync(place, bytes, 0, null_mut());
                }
            }
        }
    }
}
