//! External memory, which is that of `cuMemExportToShareableHandle`, and external semaphores, which do not exist.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::null_mut;

use cuda_driver::types::external::{BufferDescription, HandleDescription, SemaphoreDescription};
use cuda_driver::types::{CUexternalMemory, CUmemAllocationProp, CUmemLocation};

use super::virtual_memory::saxpy;
use super::*;

const UNKNOWN: i32 = 999;
/// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD`, `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32`.
const OPAQUE_DESCRIPTOR: i32 = 1;
const OPAQUE_WINDOWS: i32 = 2;
const PAGE: u64 = 4096;

fn memory(kind: i32, descriptor: i32, bytes: u64) -> HandleDescription {
    HandleDescription {
        kind,
        handle: [u64::from(descriptor.cast_unsigned()), 0],
        bytes,
        flags: 0,
        reserved: [0; 16],
    }
}

fn part(offset: u64, bytes: u64) -> BufferDescription {
    BufferDescription {
        offset,
        bytes,
        flags: 0,
        reserved: [0; 16],
    }
}

/// Creates shareable memory of 2 MiB. Returns its handle and a file descriptor.
fn exported() -> (u64, OwnedFd) {
    let wanted = CUmemAllocationProp {
        kind: 1,
        shared: 1,
        location: CUmemLocation { kind: 1, id: 0 },
        windows: null_mut(),
        flags: [0; 8],
    };
    let (mut handle, mut descriptor) = (0, -1);
    calls! {
        cuMemCreate(&mut handle, 2 << 20, &wanted, 0);
        cuMemExportToShareableHandle((&raw mut descriptor).cast(), handle, 1, 0);
    }
    // SAFETY: the driver has created the descriptor for the caller.
    (handle, unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[test]
fn exported_memory_is_imported_and_mapped() {
    let _context = OwnContext::new();
    let (_, descriptor) = exported();
    let descriptor = descriptor.into_raw_fd();
    let mut imported: CUexternalMemory = null_mut();
    let (mut all, mut end) = (0, 0);
    calls! {
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_DESCRIPTOR, descriptor, 2 << 20));
    }
    // SAFETY: `fcntl` validates the descriptor.
    let is_open = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } != -1;
    assert!(!is_open, "the descriptor belongs to the driver");
    calls! {
        cuExternalMemoryGetMappedBuffer(&mut all, imported, &part(0, 2 << 20));
        cuExternalMemoryGetMappedBuffer(&mut end, imported, &part((2 << 20) - PAGE, PAGE));
    }
    // Both buffers are the same memory, which remains after the object is destroyed.
    let last = all + (2 << 20) - 16;
    calls! {
        cuDestroyExternalMemory(imported);
        cuDestroyExternalMemory(imported) => INVALID_HANDLE;
        cuMemsetD32_v2(last, 1.0_f32.to_bits(), 4);
    }
    let in_end = end + PAGE - 16;
    assert_eq!(saxpy(in_end, all, 4), 0);
    assert_eq!(read(all, 4), [3.0; 4]);
    calls! {
        cuMemFree_v2(end);
        cuMemFree_v2(end) => INVALID_VALUE;
        cuMemFree_v2(all);
        cuExternalMemoryGetMappedBuffer(&mut all, imported, &part(0, PAGE)) => INVALID_HANDLE;
    }
}

#[test]
fn invalid_imports_leave_the_descriptor_open() {
    let _context = OwnContext::new();
    let (_, descriptor) = exported();
    let number = descriptor.as_raw_fd();
    let mut imported: CUexternalMemory = null_mut();
    let with_flags = HandleDescription {
        flags: 0x80,
        ..memory(OPAQUE_DESCRIPTOR, number, PAGE)
    };
    calls! {
        cuImportExternalMemory(&mut imported, &memory(0, number, PAGE)) => INVALID_VALUE;
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_WINDOWS, number, PAGE)) => NOT_SUPPORTED;
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_DESCRIPTOR, number, 0)) => INVALID_VALUE;
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_DESCRIPTOR, number, 4 << 20)) => INVALID_VALUE;
        cuImportExternalMemory(&mut imported, &with_flags) => INVALID_VALUE;
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_DESCRIPTOR, -1, PAGE)) => UNKNOWN;
        // A descriptor of another file.
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_DESCRIPTOR, 0, PAGE)) => UNKNOWN;
        cuImportExternalMemory(&mut imported, &memory(OPAQUE_DESCRIPTOR, number, 2 * PAGE));
    }
    let _belongs_to_the_driver = descriptor.into_raw_fd();
    let mut address = 0;
    calls! {
        cuExternalMemoryGetMappedBuffer(&mut address, imported, &part(0, 0)) => INVALID_VALUE;
        cuExternalMemoryGetMappedBuffer(&mut address, imported, &part(PAGE, 2 * PAGE)) => INVALID_VALUE;
        cuExternalMemoryGetMappedBuffer(&mut address, imported, &part(4, 4)) => INVALID_VALUE;
        cuExternalMemoryGetMappedBuffer(&mut address, imported, &part(u64::MAX, 2)) => INVALID_VALUE;
    }
}

#[test]
fn there_are_no_external_semaphores() {
    let _context = OwnContext::new();
    let of_type = |kind| SemaphoreDescription {
        kind,
        handle: [u64::MAX; 2],
        flags: 0,
        reserved: [0; 16],
    };
    let mut semaphore = null_mut();
    let parameters = [0u64; 18];
    calls! {
        cuImportExternalSemaphore(&mut semaphore, &of_type(1)) => UNKNOWN;
        cuImportExternalSemaphore(&mut semaphore, &of_type(2)) => NOT_SUPPORTED;
        cuImportExternalSemaphore(&mut semaphore, &of_type(99)) => INVALID_VALUE;
        cuSignalExternalSemaphoresAsync(&semaphore, parameters.as_ptr().cast(), 1, null_mut()) => INVALID_HANDLE;
        cuWaitExternalSemaphoresAsync(&semaphore, parameters.as_ptr().cast(), 0, null_mut()) => INVALID_VALUE;
        cuDestroyExternalSemaphore(semaphore) => INVALID_HANDLE;
    }
}

#[test]
fn address_ranges_have_no_handles() {
    let _context = OwnContext::new();
    let (mut address, mut descriptor) = (0, -1);
    calls! { cuMemAlloc_v2(&mut address, 4096); }
    let out = (&raw mut descriptor).cast();
    calls! {
        cuMemGetHandleForAddressRange(out, address, 4096, 0, 0) => INVALID_VALUE;
        cuMemGetHandleForAddressRange(out, address, 4096, 1, 0) => NOT_SUPPORTED;
    }
}
