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
use common::timing::Timing;
use common::verify::output;
use cust::memory::{DeviceBuffer, DevicePointer};
use cust::stream::Stream;
use libloading::{Library, Symbol};

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
type SetWorkspace = unsafe extern "C" fn(Handle, *mut c_void, usize) -> Status;
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

/// Bytes of the workspace, with which cuBLAS may split sums: what NVIDIA recommends for the H100 and H200.
const WORKSPACE: usize = 32 << 20;

/// The multiple to which sides are padded. In TF32, cuBLAS has faster kernels for such sides.
const PADDING: usize = 8;

/// The precision of cuBLAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats throughout, without tensor cores.
    Fp32,
    /// Tensor cores with factors rounded to TF32.
    Tf32,
}

/// A math mode of cuBLAS: its name in tables, and its value of `cublasMath_t`.
type MathMode = (&'static str, c_int);

impl Precision {
    /// Returns the name of the limit.
    fn name(self) -> &'static str {
        match self {
            Precision::Fp32 => "cuBLAS, fp32",
            Precision::Tf32 => "cuBLAS, TF32",
        }
    }

    /// Returns the math modes that compute in this precision.
    fn modes(self) -> &'static [MathMode] {
        match self {
            Precision::Fp32 => &[("default", 0), ("pedantic", 2)],
            Precision::Tf32 => &[("TF32", 3)],
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

/// Measures the time of C = A·B by the fastest variant of cuBLAS in this precision: with the rungs' pitched
/// matrices, with packed ones, and with packed ones whose sides are padded, each in every math mode. `host` has
/// the contents of A and B.
pub fn sgemm(
    library: &Library,
    precision: Precision,
    chapter: &Chapter,
    pitched: &[PitchedBuffer<f32>; 3],
    host: [&[f32]; 2],
) -> Limit {
    let (variant, timing) = match fastest(library, precision, chapter, pitched, host) {
        Ok((variant, timing)) => (Some(variant), Ok(timing)),
        Err(error) => (None, Err(error)),
    };
    Limit {
        variant,
        ..Limit::new(precision.name(), timing)
    }
}

/// Returns the name and the time of the fastest variant: see [`sgemm`].
fn fastest(
    library: &Library,
    precision: Precision,
    chapter: &Chapter,
    pitched: &[PitchedBuffer<f32>; 3],
    host: [&[f32]; 2],
) -> Result<(String, Timing)> {
    let name = precision.name();
    let cublas = Cublas::start(library, &chapter.gpu.stream)?;
    let sides = [pitched[0].rows(), pitched[1].rows(), pitched[2].width()];
    let padded_sides = sides.map(|side| side.next_multiple_of(PADDING));
    let mut layouts = vec![
        ("pitched", Operands::pitched(pitched)),
        ("packed", Operands::packed(sides, sides, host)?),
    ];
    if padded_sides != sides {
        layouts.push(("padded", Operands::packed(padded_sides, sides, host)?));
    }
    let mut fastest = (f64::INFINITY, 0, 0);
    for (layout, (_, operands)) in layouts.iter().enumerate() {
        for (mode, &(_, value)) in precision.modes().iter().enumerate() {
            cublas.set_math_mode(value)?;
            let trial = chapter.try_out(name, || cublas.product(operands))?;
            if trial.timing.median_ms < fastest.0 {
                fastest = (trial.timing.median_ms, layout, mode);
            }
        }
    }
    let (_, layout, mode) = fastest;
    let (layout, operands) = &layouts[layout];
    let (mode, value) = precision.modes()[mode];
    cublas.set_math_mode(value)?;
    let product = || cublas.product(operands);
    let measured = match precision {
        Precision::Fp32 => chapter.measure(name, product),
        // Tensor cores at full speed draw more power than the GPU sustains.
        Precision::Tf32 => chapter.measure_with_pauses(name, product),
    }?;
    Ok((format!("{layout}, {mode}"), measured.timing))
}

/// The matrices of C = A·B as arguments of cuBLAS.
struct Operands {
    /// Rows of A and C, columns of A and rows of B, columns of B and C.
    sides: [usize; 3],
    /// A, B and C, each with its elements per row, padding included.
    matrices: [(DevicePointer<f32>, usize); 3],
    /// The memory of the matrices, if the rungs do not own it.
    _owned: Option<[DeviceBuffer<f32>; 3]>,
}

impl Operands {
    /// Uses the matrices of the rungs.
    fn pitched(matrices: &[PitchedBuffer<f32>; 3]) -> Self {
        let [a, b, c] = matrices;
        Operands {
            sides: [a.rows(), b.rows(), c.width()],
            matrices: [a, b, c].map(|matrix| (matrix.as_device_ptr(), matrix.pitch() / 4)),
            _owned: None,
        }
    }

    /// Copies A and B, whose sides are `[m, n, p]`, to matrices with contiguous rows and these `sides`. The
    /// additional elements are zeros, which do not change the product.
    fn packed(sides: [usize; 3], [_, n, p]: [usize; 3], [a, b]: [&[f32]; 2]) -> Result<Self> {
        let [rows, depth, cols] = sides;
        let owned = [
            DeviceBuffer::from_slice(&padded(a, n, [rows, depth]))?,
            DeviceBuffer::from_slice(&padded(b, p, [depth, cols]))?,
            DeviceBuffer::zeroed(rows * cols)?,
        ];
        let [a, b, c] = &owned;
        Ok(Operands {
            sides,
            matrices: [
                (a.as_device_ptr(), depth),
                (b.as_device_ptr(), cols),
                (c.as_device_ptr(), cols),
            ],
            _owned: Some(owned),
        })
    }
}

/// Returns a matrix with these rows and columns: the rows of `width` elements of `matrix`, and zeros.
fn padded(matrix: &[f32], width: usize, [rows, cols]: [usize; 2]) -> Vec<f32> {
    let mut padded = vec![0.0; rows * cols];
    for (padded, row) in padded.chunks_mut(cols).zip(matrix.chunks(width)) {
        padded[..width].copy_from_slice(row);
    }
    padded
}

/// An initialized cuBLAS with its workspace.
struct Cublas<'a> {
    library: &'a Library,
    handle: Handle,
    sgemm: Symbol<'a, Sgemm>,
    workspace: DeviceBuffer<u8>,
}

impl<'a> Cublas<'a> {
    /// Initializes cuBLAS on the timed stream.
    fn start(library: &'a Library, stream: &Stream) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: the signature is that of cublas_v2.h, unchanged since version 11; `handle` is writable, and
        // the CUDA context is current.
        let status = unsafe {
            let create = library.get::<Create>("cublasCreate_v2")?;
            create(&mut handle)
        };
        check(status, "cublasCreate")?;
        let workspace = output("the workspace of cuBLAS", WORKSPACE)?;
        let cublas = Cublas {
            library,
            handle,
            // SAFETY: the signature is that of cublas_v2.h.
            sgemm: unsafe { library.get("cublasSgemm_v2") }?,
            workspace,
        };
        // SAFETY: the signature is that of cublas_v2.h; the handle is valid and the stream outlives it.
        let status = unsafe {
            let set_stream = library.get::<SetStream>("cublasSetStream_v2")?;
            set_stream(handle, stream.as_inner().cast())
        };
        check(status, "cublasSetStream")?;
        // SAFETY: the signature is that of cublas_v2.h; the workspace has this size and outlives the handle.
        let status = unsafe {
            let set_workspace = library.get::<SetWorkspace>("cublasSetWorkspace_v2")?;
            let address = cublas.workspace.as_device_ptr().as_mut_ptr();
            set_workspace(handle, address.cast(), WORKSPACE)
        };
        check(status, "cublasSetWorkspace")?;
        Ok(cublas)
    }

    fn set_math_mode(&self, mode: c_int) -> Result<()> {
        // SAFETY: the signature is that of cublas_v2.h, and the handle is valid.
        let status = unsafe {
            let set_math_mode = self.library.get::<SetMathMode>("cublasSetMathMode")?;
            set_math_mode(self.handle, mode)
        };
        check(status, "cublasSetMathMode")
    }

    /// Enqueues C = A·B. cuBLAS expects column-major matrices, and a row here is a column there, so it
    /// computes the transposed product of B and A.
    fn product(&self, operands: &Operands) -> Result<()> {
        let size = c_int::try_from;
        let [m, n, p] = operands.sides;
        let [(a, a_stride), (b, b_stride), (c, c_stride)] = operands.matrices;
        let (alpha, beta) = (1.0, 0.0);
        // SAFETY: the signature is that of cublas_v2.h, the handle is valid, and the matrices are allocations
        // with the rows, columns and strides that are passed.
        let status = unsafe {
            (self.sgemm)(
                self.handle,
                NO_TRANSPOSE,
                NO_TRANSPOSE,
                size(p)?,
                size(m)?,
                size(n)?,
                &alpha,
                b.as_ptr(),
                size(b_stride)?,
                a.as_ptr(),
                size(a_stride)?,
                &beta,
                c.as_mut_ptr(),
                size(c_stride)?,
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
    fn padding_is_zero() {
        let matrix = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(padded(&matrix, 2, [2, 2]), matrix);
        let expected = [1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(padded(&matrix, 2, [3, 3]), expected);
    }

    #[test]
    fn a_status_other_than_success_is_an_error() {
        assert!(check(0, "cublasSgemm").is_ok());
        let error = check(15, "cublasSgemm").unwrap_err();
        assert_eq!(error.to_string(), "cublasSgemm returned status 15");
    }
}
