//! A program with kernels, registered as a compiler registers it, and assertions on the calls' return values.

#![allow(dead_code, reason = "`faults` uses a part")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Once;

use cuda_runtime as cuda;
use cuda_runtime::types::{ChannelFormat, Dim3, Extent, Memcpy3D, PitchedPtr, Pos};

/// Calls a function of the runtime and returns its code.
macro_rules! code {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: handles and device addresses are looked up, and null pointers rejected; all other pointers
        // refer to memory as large as the function requires.
        unsafe { cuda_runtime::$function($($argument),*) }
    };
}

/// Calls functions of the runtime one after another. Each must succeed, or fail with the error that follows it,
/// which then is the thread's last one.
macro_rules! calls {
    ($($function:ident($($argument:expr),* $(,)?) $(=> $error:expr)?;)*) => {
        $(calls!(@check code!($function($($argument),*)) $(, $error)?);)*
    };
    (@check $code:expr) => { $crate::program::ok($code) };
    (@check $code:expr, $error:expr) => { $crate::program::fails($code, $error) };
}

/// The argument of `__cudaRegisterFatBinary`.
#[repr(C)]
struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

/// Host objects whose addresses identify the program's kernels and variables.
pub static SAXPY: u8 = 0;
pub static EMPTY: u8 = 1;
pub static FACTOR: u64 = 2;
pub static TABLE: u64 = 3;
/// Registered, but missing from the device code.
pub static NOT_IN_IMAGE: u8 = 4;
/// Never registered.
pub static UNREGISTERED: u8 = 5;

pub fn host<T>(location: &'static T) -> *const c_void {
    std::ptr::from_ref(location).cast()
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

/// Selects the simulator and registers the program once.
pub fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no other code uses the C environment at this time: only the driver reads it, and no driver
        // call has been made.
        unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
        let handle = register(PTX.as_ptr().cast());
        let kernels = [
            (&SAXPY, c"saxpy"),
            (&EMPTY, c"nothing"),
            (&NOT_IN_IMAGE, c"ghost"),
        ];
        for (location, name) in kernels {
            register_kernel(handle, location, name);
        }
        for (location, name, bytes) in [(&FACTOR, c"factor", 4), (&TABLE, c"table", 64)] {
            let (location, name) = (host(location).cast_mut().cast(), name.as_ptr());
            code!(__cudaRegisterVar(
                handle,
                location,
                null_mut(),
                name,
                0,
                bytes,
                0,
                0
            ));
        }
        code!(__cudaRegisterFatBinaryEnd(handle));
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
    code!(__cudaRegisterFatBinary(std::ptr::from_mut(wrapper).cast()))
}

pub fn register_kernel<T>(handle: *mut *mut c_void, location: &'static T, name: &'static CStr) {
    let (location, device_name, none) =
        (host(location).cast(), name.as_ptr().cast_mut(), null_mut());
    let (name, size) = (name.as_ptr(), null_mut());
    code!(__cudaRegisterFunction(
        handle,
        location,
        device_name,
        name,
        -1,
        none,
        none,
        none,
        none,
        size
    ));
}

/// Returns the name of an error.
pub fn name(code: cuda::Code) -> &'static str {
    let text: *const c_char = cuda::cudaGetErrorName(code);
    // SAFETY: the function returns a static string.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap()
}

/// Asserts that a call succeeds.
#[track_caller]
pub fn ok(code: cuda::Code) {
    assert_eq!(name(code), "cudaSuccess");
}

/// Asserts that a call fails with an error, and that the error becomes the thread's last one.
#[track_caller]
pub fn fails(code: cuda::Code, expected: &str) {
    assert_eq!(name(code), expected);
    assert_eq!(name(cuda::cudaGetLastError()), expected);
    assert_eq!(name(cuda::cudaGetLastError()), "cudaSuccess");
}

/// Returns the value that a function writes through its out-parameter.
#[track_caller]
pub fn get<T: Copy + Default>(call: impl FnOnce(*mut T) -> cuda::Code) -> T {
    let value = Cell::new(T::default());
    ok(call(value.as_ptr()));
    value.get()
}

/// Device memory that is freed on drop.
pub struct Memory(pub *mut c_void);

impl Memory {
    pub fn new(bytes: usize) -> Self {
        start();
        let mut ptr = null_mut();
        calls! { cudaMalloc(&mut ptr, bytes); }
        Self(ptr)
    }

    /// Allocates memory that holds `values`.
    pub fn of<T: Copy>(values: &[T]) -> Self {
        let bytes = size_of_val(values);
        let memory = Self::new(bytes);
        calls! { cudaMemcpy(memory.0, values.as_ptr().cast(), bytes, HOST_TO_DEVICE); }
        memory
    }

    /// Copies `count` values to the host.
    pub fn values<T: Copy + Default>(&self, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let bytes = count * size_of::<T>();
        calls! { cudaMemcpy(values.as_mut_ptr().cast(), self.0, bytes, DEVICE_TO_HOST); }
        values
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        code!(cudaFree(self.0));
    }
}

pub const fn dim(x: u32, y: u32, z: u32) -> Dim3 {
    Dim3 { x, y, z }
}

pub const ONE: Dim3 = dim(1, 1, 1);

pub const fn extent([width, height, depth]: [usize; 3]) -> Extent {
    Extent {
        width,
        height,
        depth,
    }
}

pub const fn pos([x, y, z]: [usize; 3]) -> Pos {
    Pos { x, y, z }
}

pub const fn pitched(ptr: *mut c_void, pitch: usize, xsize: usize, ysize: usize) -> PitchedPtr {
    PitchedPtr {
        ptr,
        pitch,
        xsize,
        ysize,
    }
}

pub const fn channels([x, y, z, w]: [c_int; 4], f: c_int) -> ChannelFormat {
    ChannelFormat { x, y, z, w, f }
}

/// A copy without source, destination and size.
pub const NO_COPY: Memcpy3D = Memcpy3D {
    src_array: null_mut(),
    src_pos: pos([0; 3]),
    src_ptr: pitched(null_mut(), 0, 0, 0),
    dst_array: null_mut(),
    dst_pos: pos([0; 3]),
    dst_ptr: pitched(null_mut(), 0, 0, 0),
    extent: extent([0; 3]),
    kind: HOST_TO_HOST,
};

/// Values of `cudaMemcpyKind`.
pub const HOST_TO_HOST: c_int = 0;
pub const HOST_TO_DEVICE: c_int = 1;
pub const DEVICE_TO_HOST: c_int = 2;
pub const DEVICE_TO_DEVICE: c_int = 3;
pub const DEFAULT: c_int = 4;

/// Returns bytes of which no two neighbours are equal.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}
