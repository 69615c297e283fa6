//! cuBLAS, NVIDIA's matrix multiplication, as a reference time if it is installed. No result of the chapter
//! comes from cuBLAS.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use anyhow::{Result, ensure};
use chapter::{Chapter, Limit};
use common::PitchedBuffer;
use common::error::note;
use common::gpu::{Clock, Gpu};
use cust::stream::Stream;
use libloading::Library;

/// File names of the library, newest first.
const NAMES: [&str; 3] = if cfg!(windows) {
    ["cublas64_13.dll", "cublas64_12.dll", "cublas64_11.dll"]
} else {
    ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"]
};

/// The type `cublasStatus_t`: 0 is success.
type Status = c_int;
/// The type `cublasHandle_t`.
type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle) -> Status;
type Destroy = unsafe extern "C" fn(Handle) -> Status;
type SetStream = unsafe extern "C" fn(Handle, *mut c_void) -> Status;
type SetMathMode = unsafe extern "C" fn(Handle, c_int) -> Status;
type Sgemm = unsafe extern "C" fn(
    handle: Handle,
    transpose_a: c_int,
    transpose_b: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const f32,
    a: *const f32,
    lda: c_int,
    b: *const f32,
    ldb: c_int,
    beta: *const f32,
    c: *mut f32,
    ldc: c_int,
) -> Status;

/// The value `CUBLAS_OP_N`: not transposed.
const NO_TRANSPOSE: c_int = 0;

/// The precision of cuBLAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Math {
    /// 32-bit floats throughout, without tensor cores: `CUBLAS_PEDANTIC_MATH`.
    Fp32,
    /// Tensor cores with factors rounded to TF32: `CUBLAS_TF32_TENSOR_OP_MATH`.
    Tf32,
}

impl Math {
    /// Returns the name of the limit.
    fn name(self) -> &'static str {
        match self {
            Math::Fp32 => "cuBLAS, fp32",
            Math::Tf32 => "cuBLAS, TF32",
        }
    }

    /// Returns the value of `cublasMath_t`.
    fn mode(self) -> c_int {
        match self {
            Math::Fp32 => 2,
            Math::Tf32 => 3,
        }
    }
}

/// Loads the library on the first call and returns it; `None` on the simulator, which cannot run it, and if
/// it is not installed, which is noted on standard error.
pub fn find(gpu: &Gpu) -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    if gpu.info.time == Clock::Modelled {
        return None;
    }
    let loaded = LIBRARY.get_or_init(|| {
        // SAFETY: loading the library only runs its own initialization code.
        let load = |name: &&str| unsafe { Library::new(*name) }.ok();
        let library = NAMES.iter().find_map(load);
        if library.is_none() {
            note(format_args!(
                "no comparison with cuBLAS: no {} on this machine",
                NAMES.join(", ")
            ));
        }
        library
    });
    loaded.as_ref()
}

/// Times C = A·B by cuBLAS, with pauses if the kernels it is compared with are timed with pauses (see
/// [`chapter::Chapter::measure_with_pauses`]).
pub fn sgemm(
    library: &Library,
    math: Math,
    chapter: &Chapter,
    [a, b, c]: &[PitchedBuffer<f32>; 3],
) -> Limit {
    let time = || {
        let cublas = Cublas::start(library, math, &chapter.gpu.stream)?;
        let product = || cublas.product(a, b, c);
        let measured = match math {
            Math::Fp32 => chapter.measure(math.name(), product),
            Math::Tf32 => chapter.measure_with_pauses(math.name(), product),
        };
        Ok(measured?.timing)
    };
    Limit::new(math.name(), time())
}

/// An initialized cuBLAS.
struct Cublas<'a> {
    library: &'a Library,
    handle: Handle,
}

impl<'a> Cublas<'a> {
    /// Initializes cuBLAS on the timed stream.
    fn start(library: &'a Library, math: Math, stream: &Stream) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: the signature is that of cublas_v2.h, unchanged since version 11; `handle` is writable, and
        // the CUDA context is current.
        let status = unsafe {
            let create = library.get::<Create>("cublasCreate_v2")?;
            create(&mut handle)
        };
        check(status, "cublasCreate")?;
        let cublas = Cublas { library, handle };
        // SAFETY: the signature is that of cublas_v2.h; the handle is valid and the stream outlives it.
        let status = unsafe {
            let set_stream = library.get::<SetStream>("cublasSetStream_v2")?;
            set_stream(handle, stream.as_inner().cast())
        };
        check(status, "cublasSetStream")?;
        // SAFETY: the signature is that of cublas_v2.h, and the handle is valid.
        let status = unsafe {
            let set_math_mode = library.get::<SetMathMode>("cublasSetMathMode")?;
            set_math_mode(handle, math.mode())
        };
        check(status, "cublasSetMathMode")?;
        Ok(cublas)
    }

    /// Enqueues C = A·B. cuBLAS expects column-major matrices, and a row here is a column there, so it
    /// computes the transposed product of B and A.
    fn product(
        &self,
        a: &PitchedBuffer<f32>,
        b: &PitchedBuffer<f32>,
        c: &PitchedBuffer<f32>,
    ) -> Result<()> {
        let stride = |buffer: &PitchedBuffer<f32>| c_int::try_from(buffer.pitch() / 4);
        let size = c_int::try_from;
        let (alpha, beta) = (1.0, 0.0);
        // SAFETY: the signature is that of cublas_v2.h, the handle is valid, and the matrices are allocations
        // with the rows, columns and pitches that are passed.
        let status = unsafe {
            let sgemm = self.library.get::<Sgemm>("cublasSgemm_v2")?;
            sgemm(
                self.handle,
                NO_TRANSPOSE,
                NO_TRANSPOSE,
                size(c.width())?,
                size(c.rows())?,
                size(a.width())?,
                &alpha,
                b.as_device_ptr().as_ptr(),
                stride(b)?,
                a.as_device_ptr().as_ptr(),
                stride(a)?,
                &beta,
                c.as_device_ptr().as_mut_ptr(),
                stride(c)?,
            )
        };
        check(status, "cublasSgemm")
    }
}

impl Drop for Cublas<'_> {
    fn drop(&mut self) {
        // SAFETY: the symbol's signature is that of cublas_v2.h. An error cannot be reported here.
        if let Ok(destroy) = unsafe { self.library.get::<Destroy>("cublasDestroy_v2") } {
            // SAFETY: the handle is valid and is not used after this.
            unsafe { destroy(self.handle) };
        }
    }
}

fn check(status: Status, function: &str) -> Result<()> {
    ensure!(status == 0, "{function} returned status {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_other_than_success_is_an_error() {
        assert!(check(0, "cublasSgemm").is_ok());
        let error = check(15, "cublasSgemm").unwrap_err();
        assert_eq!(error.to_string(), "cublasSgemm returned status 15");
    }
}
