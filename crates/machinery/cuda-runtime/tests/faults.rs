//! What ends a device's context, and what a child of `fork` is told. One test: all of it changes the whole
//! process.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::Dim3;

/// What `__cudaRegisterFatBinary` is given.
#[repr(C)]
struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

/// What the program knows its kernel by.
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

fn name(code: cuda::Code) -> &'static str {
    // SAFETY: it is a string that lasts.
    unsafe { CStr::from_ptr(cuda::cudaGetErrorName(code)) }
        .to_str()
        .unwrap()
}

fn write(mut at: *mut c_void) -> &'static str {
    let one = Dim3 { x: 1, y: 1, z: 1 };
    let mut arguments: [*mut c_void; 1] = [(&raw mut at).cast()];
    // SAFETY: the kernel has one argument.
    name(unsafe {
        cuda::cudaLaunchKernel(
            (&raw const WRITE).cast(),
            one,
            one,
            arguments.as_mut_ptr(),
            0,
            null_mut(),
        )
    })
}

fn allocate() -> (&'static str, *mut c_void) {
    let mut at = null_mut();
    // SAFETY: an address is written.
    (name(unsafe { cuda::cudaMalloc(&mut at, 64) }), at)
}

fn synchronize() -> &'static str {
    // SAFETY: any thread may wait.
    name(unsafe { cuda::cudaDeviceSynchronize() })
}

fn register() -> *mut *mut c_void {
    let wrapper = Box::leak(Box::new(Wrapper {
        magic: 0x4662_43b1,
        version: 1,
        data: PTX.as_ptr().cast(),
        more: std::ptr::null(),
    }));
    // SAFETY: as a compiler calls it.
    unsafe {
        let handle = cuda::__cudaRegisterFatBinary(std::ptr::from_mut(wrapper).cast());
        cuda::__cudaRegisterFunction(
            handle,
            (&raw const WRITE).cast(),
            null_mut(),
            c"write".as_ptr(),
            -1,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        );
        handle
    }
}

#[test]
fn a_fault_ends_the_context_until_a_reset_and_a_child_has_none() {
    // SAFETY: before any call of the driver, which alone reads it.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let handle = register();
    let (made, at) = allocate();
    assert_eq!(
        (made, write(at), synchronize()),
        ("cudaSuccess", "cudaSuccess", "cudaSuccess")
    );

    let null = write(null_mut());
    let fault = "cudaErrorIllegalAddress";
    assert_eq!((null, synchronize()), ("cudaSuccess", fault));
    for _ in 0..2 {
        assert_eq!(name(cuda::cudaGetLastError()), fault);
        assert_eq!(allocate().0, fault);
        assert_eq!(write(at), fault);
    }
    // SAFETY: nothing of the old context is used after this.
    assert_eq!(name(unsafe { cuda::cudaDeviceReset() }), "cudaSuccess");
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
    let (made, at) = allocate();
    assert_eq!(
        (made, write(at), synchronize()),
        ("cudaSuccess", "cudaSuccess", "cudaSuccess")
    );
    let mut read = 0_u32;
    // SAFETY: so many bytes are there.
    let copied = unsafe { cuda::cudaMemcpy((&raw mut read).cast(), at, 4, 2) };
    assert_eq!((name(copied), read), ("cudaSuccess", 77));
    // A thread that has been there before a reset goes on with the new context.
    std::thread::spawn(|| {
        assert_eq!(allocate().0, "cudaSuccess");
        // SAFETY: as above.
        let reset = std::thread::spawn(|| name(unsafe { cuda::cudaDeviceReset() }));
        assert_eq!(reset.join().unwrap(), "cudaSuccess");
        let (made, at) = allocate();
        assert_eq!(
            (made, write(at), synchronize()),
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

/// A child is told that there is no device for it, and its end does not wait for anything.
#[cfg(unix)]
fn in_child(handle: *mut *mut c_void) {
    // SAFETY: the child does nothing but ask and end.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let told = [allocate().0, write(null_mut()), synchronize()];
            let last = name(cuda::cudaGetLastError());
            cuda::__cudaUnregisterFatBinary(handle);
            let right = told == ["cudaErrorInitializationError"; 3] && last == told[0];
            libc::_exit(if right { 0 } else { 1 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0);
    }
    assert_eq!(allocate().0, "cudaSuccess");
}
