//! Faults that destroy a device's context, and forked children. All of it is one test, because it changes the
//! state of the whole process.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

use cuda_runtime as cuda;
use cuda_runtime::types::Dim3;

/// The argument of `__cudaRegisterFatBinary`.
#[repr(C)]
struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

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

fn name(code: cuda::Code) -> &'static str {
    // SAFETY: the function returns a static string.
    unsafe { CStr::from_ptr(cuda::cudaGetErrorName(code)) }
        .to_str()
        .unwrap()
}

fn write(mut ptr: *mut c_void) -> &'static str {
    let unit = Dim3 { x: 1, y: 1, z: 1 };
    let mut arguments: [*mut c_void; 1] = [(&raw mut ptr).cast()];
    // SAFETY: the kernel has one parameter.
    name(unsafe {
        cuda::cudaLaunchKernel(
            (&raw const WRITE).cast(),
            unit,
            unit,
            arguments.as_mut_ptr(),
            0,
            null_mut(),
        )
    })
}

fn allocate() -> (&'static str, *mut c_void) {
    let mut ptr = null_mut();
    // SAFETY: `ptr` is writable.
    (name(unsafe { cuda::cudaMalloc(&mut ptr, 64) }), ptr)
}

fn synchronize() -> &'static str {
    // SAFETY: any thread may synchronize.
    name(unsafe { cuda::cudaDeviceSynchronize() })
}

fn register() -> *mut *mut c_void {
    let wrapper = Box::leak(Box::new(Wrapper {
        magic: 0x4662_43b1,
        version: 1,
        data: PTX.as_ptr().cast(),
        more: std::ptr::null(),
    }));
    // SAFETY: all pointers are null, static or leaked.
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
fn a_fault_ends_the_context_until_a_reset_and_a_child_has_no_device() {
    // SAFETY: only the driver reads this variable, and no driver call has been made.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let handle = register();
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
    // SAFETY: nothing of the old context is used after this.
    assert_eq!(name(unsafe { cuda::cudaDeviceReset() }), "cudaSuccess");
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
    let (allocated, ptr) = allocate();
    assert_eq!(
        (allocated, write(ptr), synchronize()),
        ("cudaSuccess", "cudaSuccess", "cudaSuccess")
    );
    let mut value = 0_u32;
    // SAFETY: `value` and the allocation have four bytes.
    let copied = unsafe { cuda::cudaMemcpy((&raw mut value).cast(), ptr, 4, 2) };
    assert_eq!((name(copied), value), ("cudaSuccess", 77));
    // A thread that used the old context before a reset continues with the new one.
    std::thread::spawn(|| {
        assert_eq!(allocate().0, "cudaSuccess");
        // SAFETY: no pointer of the old context is used afterwards.
        let reset = std::thread::spawn(|| name(unsafe { cuda::cudaDeviceReset() }));
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
