//! cuFFT.

use std::ffi::{c_int, c_longlong, c_void};

use cuda_driver::types::CUstream;

mod execute;
mod plan;

use crate::functions::Status;
use crate::nvidia::Library;

pub use plan::Handle;

/// `CUFFT_INVALID_PLAN`.
const INVALID_PLAN: Status = Status(1);
/// `CUFFT_INVALID_TYPE`.
const INVALID_TYPE: Status = Status(3);
/// `CUFFT_INVALID_VALUE`.
const INVALID_VALUE: Status = Status(4);
/// `CUFFT_INTERNAL_ERROR`.
const INTERNAL_ERROR: Status = Status(5);
/// `CUFFT_EXEC_FAILED`.
const EXEC_FAILED: Status = Status(6);
/// `CUFFT_SETUP_FAILED`.
const SETUP_FAILED: Status = Status(7);
/// `CUFFT_INVALID_SIZE`.
const INVALID_SIZE: Status = Status(8);
/// `CUFFT_NOT_IMPLEMENTED`.
const NOT_IMPLEMENTED: Status = Status(14);

static CUFFT: Library = Library::new(
    "cuFFT",
    &["libcufft.so.12", "libcufft.so.11", "libcufft.so.10"],
    ["nvidia-cufft-cu12", "libcufft"],
    [SETUP_FAILED.0, EXEC_FAILED.0, INTERNAL_ERROR.0],
);

functions! { CUFFT;
    // Plans.
    [cufftCreate] (plan: *mut Handle) => plan::create;
    [cufftDestroy] (plan: Handle) => plan::destroy;
    [cufftPlan1d] (plan: *mut Handle, nx: c_int, kind: c_int, batch: c_int) => plan::plan_1d;
    [cufftPlan2d] (plan: *mut Handle, nx: c_int, ny: c_int, kind: c_int) => plan::plan_2d;
    [cufftPlan3d] (plan: *mut Handle, nx: c_int, ny: c_int, nz: c_int, kind: c_int) => plan::plan_3d;
    [cufftPlanMany] (plan: *mut Handle, rank: c_int, n: *mut c_int, inembed: *mut c_int, istride: c_int, idist: c_int, onembed: *mut c_int, ostride: c_int, odist: c_int, kind: c_int, batch: c_int) => plan::plan_many;
    [cufftMakePlan1d] (plan: Handle, nx: c_int, kind: c_int, batch: c_int, size: *mut usize) => plan::make_1d;
    [cufftMakePlan2d] (plan: Handle, nx: c_int, ny: c_int, kind: c_int, size: *mut usize) => plan::make_2d;
    [cufftMakePlan3d] (plan: Handle, nx: c_int, ny: c_int, nz: c_int, kind: c_int, size: *mut usize) => plan::make_3d;
    [cufftMakePlanMany c_int, cufftMakePlanMany64 c_longlong] (plan: Handle, rank: c_int, n: *mut T, inembed: *mut T, istride: T, idist: T, onembed: *mut T, ostride: T, odist: T, kind: c_int, batch: T, size: *mut usize) => plan::make_many;
    [cufftXtMakePlanMany] (plan: Handle, rank: c_int, n: *mut c_longlong, inembed: *mut c_longlong, istride: c_longlong, idist: c_longlong, input: c_int, onembed: *mut c_longlong, ostride: c_longlong, odist: c_longlong, output: c_int, batch: c_longlong, size: *mut usize, execution: c_int) => plan::make_xt;

    // The sizes of work areas.
    [cufftEstimate1d] (nx: c_int, kind: c_int, batch: c_int, size: *mut usize) => plan::estimate_1d;
    [cufftEstimate2d] (nx: c_int, ny: c_int, kind: c_int, size: *mut usize) => plan::estimate_2d;
    [cufftEstimate3d] (nx: c_int, ny: c_int, nz: c_int, kind: c_int, size: *mut usize) => plan::estimate_3d;
    [cufftEstimateMany] (rank: c_int, n: *mut c_int, inembed: *mut c_int, istride: c_int, idist: c_int, onembed: *mut c_int, ostride: c_int, odist: c_int, kind: c_int, batch: c_int, size: *mut usize) => plan::estimate_many;
    [cufftGetSize1d] (plan: Handle, nx: c_int, kind: c_int, batch: c_int, size: *mut usize) => plan::size_1d;
    [cufftGetSize2d] (plan: Handle, nx: c_int, ny: c_int, kind: c_int, size: *mut usize) => plan::size_2d;
    [cufftGetSize3d] (plan: Handle, nx: c_int, ny: c_int, nz: c_int, kind: c_int, size: *mut usize) => plan::size_3d;
    [cufftGetSizeMany c_int, cufftGetSizeMany64 c_longlong] (plan: Handle, rank: c_int, n: *mut T, inembed: *mut T, istride: T, idist: T, onembed: *mut T, ostride: T, odist: T, kind: c_int, batch: T, size: *mut usize) => plan::size_many;
    [cufftGetSize] (plan: Handle, size: *mut usize) => plan::size;

    // Settings.
    [cufftSetStream] (plan: Handle, stream: CUstream) => plan::set_stream;
    [cufftSetWorkArea] (plan: Handle, area: *mut c_void) => plan::set_work_area;
    [cufftSetAutoAllocation] (plan: Handle, automatic: c_int) => plan::set_automatic;
    [cufftGetVersion] (version: *mut c_int) => plan::version;
    [cufftGetProperty] (kind: c_int, value: *mut c_int) => plan::property;
    [cufftXtSetCallback] (plan: Handle, callbacks: *mut *mut c_void, kind: c_int, infos: *mut *mut c_void) => plan::set_callback;

    // Transforms.
    [cufftExecC2C f32, cufftExecZ2Z f64] (plan: Handle, input: *mut c_void, output: *mut c_void, direction: c_int) => execute::complex;
    [cufftExecR2C f32, cufftExecD2Z f64] (plan: Handle, input: *mut c_void, output: *mut c_void) => execute::from_real;
    [cufftExecC2R f32, cufftExecZ2D f64] (plan: Handle, input: *mut c_void, output: *mut c_void) => execute::to_real;
    [cufftXtExec] (plan: Handle, input: *mut c_void, output: *mut c_void, direction: c_int) => execute::any;
}
