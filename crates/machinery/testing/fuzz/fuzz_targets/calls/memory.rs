//! Allocation, release and queries of all kinds of memory.

use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::state::{Address, HOST_BYTES, State};

#[derive(Arbitrary, Debug)]
pub enum Call {
    Allocate(u32),
    AllocateHuge(usize),
    AllocatePitched(usize, usize, u32),
    AllocateManaged(u16, u32),
    AllocateHost(u16, u32),
    Free(Address),
    FreeHost(Address),
    Register(u16, u16, u32),
    Unregister(u16),
    AddressRange(Address),
    PointerAttribute(Address, u8),
    Advise(Address, usize, u8),
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &mut State) {
        let host = state.host();
        let (mut size, mut address) = (0, 0);
        // SAFETY: only bytes of the host memory are registered, and the other out-pointers are to live
        // locals. The driver validates addresses, which are only numbers.
        unsafe {
            match self {
                Call::Allocate(bytes) => {
                    // At most half a megabyte, because written memory is really allocated.
                    if cuMemAlloc_v2(&mut address, bytes as usize % (1 << 19)) == 0 {
                        state.addresses.push(address);
                    }
                }
                Call::AllocateHuge(bytes) => {
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
                Call::Free(pointer) => {
                    cuMemFree_v2(state.address(pointer));
                }
                Call::FreeHost(pointer) => {
                    let pointer = state.address(pointer) as usize;
                    cuMemFreeHost(std::ptr::without_provenance_mut(pointer));
                }
                Call::Register(from, bytes, flags) => {
                    let from = usize::from(from) % HOST_BYTES;
                    let bytes = usize::from(bytes).min(HOST_BYTES - from);
                    let start = host.byte_add(from);
                    if cuMemHostRegister_v2(start, bytes, flags) == 0 {
                        state.registered.push(start);
                    }
                }
                Call::Unregister(from) => {
                    cuMemHostUnregister(host.byte_add(usize::from(from) % HOST_BYTES));
                }
                Call::AddressRange(pointer) => {
                    cuMemGetAddressRange_v2(&mut address, &mut size, state.address(pointer));
                }
                Call::PointerAttribute(pointer, attribute) => {
                    // Large enough for the longest attribute.
                    let mut value = [0u64; 8];
                    let value = value.as_mut_ptr().cast();
                    cuPointerGetAttribute(value, attribute.into(), state.address(pointer));
                }
                Call::Advise(pointer, bytes, advice) => {
                    let pointer = state.address(pointer);
                    cuMemAdvise(pointer, bytes, advice.into(), 0);
                    cuMemPrefetchAsync(pointer, bytes, 0, null_mut());
                }
            }
        }
    }
}
