//! A program with kernels, registered as a compiler has it registered, and asserting on what calls answer.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Once;

use cuda_runtime as cuda;

/// What `__cudaRegisterFatBinary` is given.
#[repr(C)]
struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

/// What the program knows its kernels and variables by: places on the host.
pub static SAXPY: u8 = 0;
pub static NOTHING: u8 = 1;
pub static FACTOR: u64 = 2;
pub static TABLE: u64 = 3;
/// Registered, but not in the device code.
pub static GHOST: u8 = 4;
/// Never registered.
pub static STRANGER: u8 = 5;

pub fn host<T>(place: &'static T) -> *const c_void {
    std::ptr::from_ref(place).cast()
}

const PTX: &CStr = c".version 6.4
.target sm_52
.address_size 64
.visible .const .align 4 .f32 factor;
.visible .global .align 4 .b8 table[64];
.visible .entry nothing() { ret; }
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .f32 %f<5>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra done;
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	ld.global.f32 %f2, [%rd5];
	ld.const.f32 %f3, [factor];
	fma.rn.f32 %f4, %f1, %f3, %f2;
	st.global.f32 [%rd5], %f4;
done:
	ret;
}
";

/// Forces the simulator, and registers the program once.
pub fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
        // environment waits.
        unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
        let handle = register(PTX.as_ptr().cast());
        let kernels = [
            (&SAXPY, c"saxpy"),
            (&NOTHING, c"nothing"),
            (&GHOST, c"ghost"),
        ];
        for (place, name) in kernels {
            register_kernel(handle, place, name);
        }
        for (place, name, bytes) in [(&FACTOR, c"factor", 4), (&TABLE, c"table", 64)] {
            // SAFETY: as a compiler calls it.
            unsafe {
                cuda::__cudaRegisterVar(
                    handle,
                    host(place).cast_mut().cast(),
                    null_mut(),
                    name.as_ptr(),
                    0,
                    bytes,
                    0,
                    0,
                );
            }
        }
        // SAFETY: as a compiler calls it.
        unsafe { cuda::__cudaRegisterFatBinaryEnd(handle) };
    });
}

/// Registers device code.
pub fn register(image: *const c_void) -> *mut *mut c_void {
    let wrapper = Box::leak(Box::new(Wrapper {
        magic: 0x4662_43b1,
        version: 1,
        data: image,
        more: std::ptr::null(),
    }));
    // SAFETY: as a compiler calls it.
    unsafe { cuda::__cudaRegisterFatBinary(std::ptr::from_mut(wrapper).cast()) }
}

pub fn register_kernel<T>(handle: *mut *mut c_void, place: &'static T, name: &'static CStr) {
    // SAFETY: as a compiler calls it.
    unsafe {
        cuda::__cudaRegisterFunction(
            handle,
            host(place).cast(),
            name.as_ptr().cast_mut(),
            name.as_ptr(),
            -1,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        );
    }
}

/// The name of an error.
pub fn name(code: cuda::Code) -> &'static str {
    let text: *const c_char = cuda::cudaGetErrorName(code);
    // SAFETY: it is a string that lasts.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap()
}

/// Asserts that a call has done what it was asked for.
#[track_caller]
pub fn ok(code: cuda::Code) {
    assert_eq!(name(code), "cudaSuccess");
}

/// Asserts that a call answers an error, which is the thread's last one from then on.
#[track_caller]
pub fn fails(code: cuda::Code, expected: &str) {
    assert_eq!(name(code), expected);
    assert_eq!(name(cuda::cudaGetLastError()), expected);
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
}

/// What a function writes to where its argument points.
#[track_caller]
pub fn get<T: Copy + Default>(ask: impl FnOnce(*mut T) -> cuda::Code) -> T {
    let to = Cell::new(T::default());
    ok(ask(to.as_ptr()));
    to.get()
}

/// Device memory, which is freed when this is dropped.
pub struct Memory(pub *mut c_void);

impl Memory {
    pub fn new(bytes: usize) -> Self {
        start();
        let mut at = null_mut();
        // SAFETY: an address is written.
        ok(unsafe { cuda::cudaMalloc(&mut at, bytes) });
        Self(at)
    }

    /// Memory that holds these values.
    pub fn of<T: Copy>(values: &[T]) -> Self {
        let bytes = size_of_val(values);
        let made = Self::new(bytes);
        // SAFETY: both have so many bytes.
        ok(unsafe { cuda::cudaMemcpy(made.0, values.as_ptr().cast(), bytes, TO_DEVICE) });
        made
    }

    /// So many of its values.
    pub fn values<T: Copy + Default>(&self, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let bytes = count * size_of::<T>();
        // SAFETY: as above.
        ok(unsafe { cuda::cudaMemcpy(values.as_mut_ptr().cast(), self.0, bytes, TO_HOST) });
        values
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more. An assertion may have failed before, so this one is none.
        unsafe { cuda::cudaFree(self.0) };
    }
}

/// The numbers of `cudaMemcpyKind`.
pub const HOST_TO_HOST: c_int = 0;
pub const TO_DEVICE: c_int = 1;
pub const TO_HOST: c_int = 2;
pub const ON_DEVICE: c_int = 3;
pub const DEFAULT: c_int = 4;

/// Bytes of which no two in a row are alike.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}
