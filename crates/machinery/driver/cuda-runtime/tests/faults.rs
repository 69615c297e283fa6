//! Faults that destroy a device's context, and forked children. All of it is one test, because it changes the
//! state of the whole process.

#[macro_use]
#[path = "api/program.rs"]
mod program;

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use cuda_runtime as cuda;
use program::*;

/// The host object whose address identifies the program's kernel.
static WRITE: u8 = 0;

const PTX: &CStr = c".version 6.4
.target sm_52
.address_size 64
.visible .entry write(.param .u64 at)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [at];
	mov.u32 %r1, 77;
	st.global.u32 [%rd1], %r1;
	ret;
}
";

fn write(mut ptr: *mut c_void) -> &'static str {
    let mut arguments: [*mut c_void; 1] = [(&raw mut ptr).cast()];
    let arguments = arguments.as_mut_ptr();
    name(code!(cudaLaunchKernel(
        host(&WRITE),
        ONE,
        ONE,
        arguments,
        0,
        null_mut()
    )))
}

fn allocate() -> (&'static str, *mut c_void) {
    let mut ptr = null_mut();
    (name(code!(cudaMalloc(&mut ptr, 64))), ptr)
}

fn synchronize() -> &'static str {
    name(code!(cudaDeviceSynchronize()))
}

#[test]
fn a_fault_ends_the_context_until_a_reset_and_a_child_has_no_device() {
    // SAFETY: only the driver reads this variable, and no driver call has been made.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let handle = register(PTX.as_ptr().cast());
    register_kernel(handle, &WRITE, c"write");
    let (allocated, ptr) = allocate();
    assert_eq!(
        (allocated, write(ptr), synchronize()),
        ("cudaSuccess", "cudaSuccess", "cudaSuccess")
    );

    let launched = write(null_mut());
    let fault = "cudaErrorIllegalAddress";
    assert_eq!((launched, synchronize()), ("cudaSuccess", fault));
    for _ in 0..2 {
        assert_eq!(name(cuda::cudaGetLastError()), fault);
        assert_eq!(allocate().0, fault);
        assert_eq!(write(ptr), fault);
    }
    calls! { cudaDeviceReset(); }
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
    let (allocated, ptr) = allocate();
    assert_eq!(
        (allocated, write(ptr), synchronize()),
        ("cudaSuccess", "cudaSuccess", "cudaSuccess")
    );
    let mut value = 0_u32;
    calls! { cudaMemcpy((&raw mut value).cast(), ptr, 4, DEVICE_TO_HOST); }
    assert_eq!(value, 77);
    // A thread that used the old context before a reset continues with the new one.
    std::thread::spawn(|| {
        assert_eq!(allocate().0, "cudaSuccess");
        let reset = std::thread::spawn(|| name(code!(cudaDeviceReset())));
        assert_eq!(reset.join().unwrap(), "cudaSuccess");
        let (allocated, ptr) = allocate();
        assert_eq!(
            (allocated, write(ptr), synchronize()),
            ("cudaSuccess", "cudaSuccess", "cudaSuccess")
        );
    })
    .join()
    .unwrap();

    #[cfg(unix)]
    in_child(handle);
    #[cfg(not(unix))]
    let _ = handle;
}

/// Forks a child, in which every call fails with `cudaErrorInitializationError`, and which exits without
/// waiting.
#[cfg(unix)]
fn in_child(handle: *mut *mut c_void) {
    // SAFETY: the child only calls functions that check for the fork first, and `_exit`.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let codes = [allocate().0, write(null_mut()), synchronize()];
            let last = name(cuda::cudaGetLastError());
            cuda::__cudaUnregisterFatBinary(handle);
            let ok = codes == ["cudaErrorInitializationError"; 3] && last == codes[0];
            libc::_exit(if ok { 0 } else { 1 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0);
    }
    assert_eq!(allocate().0, "cudaSuccess");
}
