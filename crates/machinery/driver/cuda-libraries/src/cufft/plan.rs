//! Plans: the sizes of transforms, the layout of their elements, and the settings of a handle.

use super::*;
use crate::call::Stream;
use crate::functions::{CallResult, Handles, write_output, write_property};

/// `cufftHandle`.
pub type Handle = c_int;

/// `cufftType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub form: Form,
    pub is_double: bool,
}

/// The elements of a transform's input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Complex,
    FromReal,
    ToReal,
}

impl Kind {
    fn new(value: c_int) -> Result<Self, Status> {
        let (form, is_double) = match value {
            0x29 => (Form::Complex, false),
            0x2a => (Form::FromReal, false),
            0x2c => (Form::ToReal, false),
            0x69 => (Form::Complex, true),
            0x6a => (Form::FromReal, true),
            0x6c => (Form::ToReal, true),
            _ => return Err(INVALID_TYPE),
        };
        Ok(Self { form, is_double })
    }

    /// Creates the kind of input and output elements with these `cudaDataType`s.
    fn of_types(input: c_int, output: c_int) -> Result<Self, Status> {
        Self::new(match (input, output) {
            (4, 4) => 0x29,
            (0, 4) => 0x2a,
            (4, 0) => 0x2c,
            (5, 5) => 0x69,
            (1, 5) => 0x6a,
            (5, 1) => 0x6c,
            _ => return Err(NOT_IMPLEMENTED),
        })
    }
}

/// The positions of the elements of an input or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The elements of the array that contains a transform, per dimension. The first does not matter.
    pub embed: [usize; 3],
    /// The distance between consecutive elements of the last dimension.
    pub stride: usize,
    /// The distance between the first elements of two transforms.
    pub distance: usize,
}

/// The input's and the output's layouts of a plan that specifies them; `None` for contiguous elements.
pub type Layouts = Option<[Layout; 2]>;

/// A plan.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub kind: Kind,
    /// The sizes of the dimensions, the last of which varies fastest; leading ones are 1 if there are fewer than three.
    pub sizes: [usize; 3],
    pub batch: usize,
    pub layouts: Layouts,
}

/// The plan and the stream of a handle.
#[derive(Clone, Copy)]
pub struct Settings {
    pub plan: Option<Plan>,
    pub stream: Stream,
}

static HANDLES: Handles<Settings> = Handles::new(INVALID_PLAN);

/// Calls `f` with the settings of a handle.
fn with<R>(handle: Handle, f: impl FnOnce(&mut Settings) -> R) -> Result<R, Status> {
    let handle = usize::try_from(handle).map_err(|_| INVALID_PLAN)?;
    HANDLES.with(handle, f)
}

/// Returns the plan of a handle and its stream.
pub fn planned(handle: Handle) -> Result<(Plan, Stream), Status> {
    let settings = with(handle, |settings| *settings)?;
    let plan = settings.plan.ok_or(INVALID_PLAN)?;
    Ok((plan, settings.stream))
}

/// `cufftCreate`.
///
/// # Safety
/// `plan` must be null or writable.
pub unsafe fn create(plan: *mut Handle) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { add(plan, None) }
}

/// Adds a handle.
///
/// # Safety
/// `handle` must be null or writable.
unsafe fn add(handle: *mut Handle, plan: Option<Plan>) -> CallResult {
    if handle.is_null() {
        return Err(INVALID_VALUE);
    }
    let stream = Stream::NULL;
    let created = HANDLES.insert(Settings { plan, stream });
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { handle.write(created as Handle) };
    Ok(())
}

/// `cufftDestroy`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn destroy(plan: Handle) -> CallResult {
    let handle = usize::try_from(plan).map_err(|_| INVALID_PLAN)?;
    HANDLES.remove(handle)?;
    Ok(())
}

/// Converts a size, which must be positive.
fn size_of_dimension(value: impl TryInto<i64>) -> Result<usize, Status> {
    let value: i64 = value.try_into().map_err(|_| INVALID_SIZE)?;
    match value {
        1.. => usize::try_from(value).map_err(|_| INVALID_SIZE),
        _ => Err(INVALID_SIZE),
    }
}

impl Plan {
    /// Creates a plan of contiguous transforms of one to three dimensions.
    fn new(sizes: &[c_int], kind: c_int, batch: c_int) -> Result<Self, Status> {
        let kind = Kind::new(kind)?;
        let mut padded = [1; 3];
        for (padded, &size) in padded[3 - sizes.len()..].iter_mut().zip(sizes) {
            *padded = size_of_dimension(size)?;
        }
        Ok(Self {
            kind,
            sizes: padded,
            batch: size_of_dimension(batch)?,
            layouts: None,
        })
    }

    /// Creates a plan of transforms in arrays.
    ///
    /// # Safety
    /// `sizes`, and the arrays of the layouts unless they are null, must be `rank` readable numbers.
    unsafe fn many<N: Copy + TryInto<i64>>(
        (rank, sizes): (c_int, *mut N),
        layouts: [(*mut N, N, N); 2],
        kind: Kind,
        batch: N,
    ) -> Result<Self, Status> {
        if !(1..=3).contains(&rank) || sizes.is_null() {
            return Err(INVALID_VALUE);
        }
        let rank = rank as usize;
        // Reads the numbers from `first` on; the others are 1.
        let read = |numbers: *mut N, first: usize| {
            let mut padded = [1; 3];
            for (i, padded) in padded[3 - rank..].iter_mut().enumerate().skip(first) {
                // SAFETY: there are `rank` numbers, by this function's contract.
                *padded = size_of_dimension(unsafe { numbers.add(i).read() })?;
            }
            Ok::<_, Status>(padded)
        };
        let batch = size_of_dimension(batch)?;
        // The distance between transforms matters only if there are several.
        let is_single = batch == 1;
        let layout = |(embed, stride, distance): (*mut N, N, N)| {
            Ok::<_, Status>(Layout {
                // The size of the slowest dimension does not matter, and programs pass 0.
                embed: read(embed, 1)?,
                stride: size_of_dimension(stride)?,
                distance: if is_single {
                    1
                } else {
                    size_of_dimension(distance)?
                },
            })
        };
        // Without one of the arrays, all layouts are contiguous.
        let layouts = match layouts.iter().any(|(embed, ..)| embed.is_null()) {
            true => None,
            false => Some([layout(layouts[0])?, layout(layouts[1])?]),
        };
        Ok(Self {
            kind,
            sizes: read(sizes, 0)?,
            batch,
            layouts,
        })
    }

    /// Returns the number of elements of the last dimension on the complex side.
    pub fn half(&self) -> usize {
        match self.kind.form {
            Form::Complex => self.sizes[2],
            Form::FromReal | Form::ToReal => self.sizes[2] / 2 + 1,
        }
    }

    /// Returns the layouts of input and output. Contiguous real rows in the place of complex ones are padded.
    pub fn layouts(&self, in_place: bool) -> [Layout; 2] {
        if let Some(layouts) = self.layouts {
            return layouts;
        }
        let [outer, middle, last] = self.sizes;
        let contiguous = |row: usize| Layout {
            embed: [outer, middle, row],
            stride: 1,
            distance: outer * middle * row,
        };
        let complex = contiguous(self.half());
        let real = contiguous(if in_place { 2 * self.half() } else { last });
        match self.kind.form {
            Form::Complex => [complex; 2],
            Form::FromReal => [real, complex],
            Form::ToReal => [complex, real],
        }
    }
}

/// Writes the size of a work area: the host needs none.
///
/// # Safety
/// `size` must be null or writable.
unsafe fn write_size(size: *mut usize) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(size, 0, INVALID_VALUE) }
}

/// Gives a handle of `cufftCreate` its plan.
///
/// # Safety
/// `size` must be null or writable.
unsafe fn make(handle: Handle, plan: Plan, size: *mut usize) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { write_size(size) }?;
    with(handle, |settings| match settings.plan {
        Some(_) => Err(INVALID_PLAN),
        None => {
            settings.plan = Some(plan);
            Ok(())
        }
    })?
}

/// Generates the functions of plans of contiguous transforms: those that create, make, estimate and measure a plan, and
/// the arguments of its sizes.
macro_rules! contiguous_plans {
    ($($plan:ident $make:ident $estimate:ident $measure:ident [$($n:ident),*] [$($batch:ident)?];)*) => {$(
        /// Creates a handle with a plan.
        ///
        /// # Safety
        /// `plan` must be null or writable.
        pub unsafe fn $plan(plan: *mut Handle, $($n: c_int,)* kind: c_int $(, $batch: c_int)?) -> CallResult {
            let created = Plan::new(&[$($n),*], kind, batch_of!($($batch)?))?;
            // SAFETY: the requirements are those of this function.
            unsafe { add(plan, Some(created)) }
        }

        /// Gives a handle its plan.
        ///
        /// # Safety
        /// `size` must be null or writable.
        pub unsafe fn $make(plan: Handle, $($n: c_int,)* kind: c_int, $($batch: c_int,)? size: *mut usize) -> CallResult {
            let created = Plan::new(&[$($n),*], kind, batch_of!($($batch)?))?;
            // SAFETY: the requirements are those of this function.
            unsafe { make(plan, created, size) }
        }

        /// Writes the size of the plan's work area.
        ///
        /// # Safety
        /// `size` must be null or writable.
        pub unsafe fn $estimate($($n: c_int,)* kind: c_int, $($batch: c_int,)? size: *mut usize) -> CallResult {
            Plan::new(&[$($n),*], kind, batch_of!($($batch)?))?;
            // SAFETY: the requirements are those of this function.
            unsafe { write_size(size) }
        }

        /// Writes the size of the plan's work area.
        ///
        /// # Safety
        /// `size` must be null or writable.
        pub unsafe fn $measure(plan: Handle, $($n: c_int,)* kind: c_int, $($batch: c_int,)? size: *mut usize) -> CallResult {
            with(plan, |_| ())?;
            // SAFETY: the requirements are those of this function.
            unsafe { $estimate($($n,)* kind, $($batch,)? size) }
        }
    )*};
}

/// Expands to the number of transforms: an argument, or 1.
macro_rules! batch_of {
    () => {
        1
    };
    ($batch:ident) => {
        $batch
    };
}

contiguous_plans! {
    plan_1d make_1d estimate_1d size_1d [nx] [batch];
    plan_2d make_2d estimate_2d size_2d [nx, ny] [];
    plan_3d make_3d estimate_3d size_3d [nx, ny, nz] [];
}

/// `cufftPlanMany`.
///
/// # Safety
/// `plan` must be null or writable, and the arrays must be null or have `rank` elements.
pub unsafe fn plan_many(
    plan: *mut Handle,
    rank: c_int,
    n: *mut c_int,
    inembed: *mut c_int,
    istride: c_int,
    idist: c_int,
    onembed: *mut c_int,
    ostride: c_int,
    odist: c_int,
    kind: c_int,
    batch: c_int,
) -> CallResult {
    let layouts = [(inembed, istride, idist), (onembed, ostride, odist)];
    // SAFETY: the requirements are those of this function.
    unsafe {
        let created = Plan::many((rank, n), layouts, Kind::new(kind)?, batch)?;
        add(plan, Some(created))
    }
}

/// `cufftMakePlanMany`.
///
/// # Safety
/// `size` must be null or writable, and the arrays must be null or have `rank` elements.
pub unsafe fn make_many<N: Copy + TryInto<i64>>(
    plan: Handle,
    rank: c_int,
    n: *mut N,
    inembed: *mut N,
    istride: N,
    idist: N,
    onembed: *mut N,
    ostride: N,
    odist: N,
    kind: c_int,
    batch: N,
    size: *mut usize,
) -> CallResult {
    let layouts = [(inembed, istride, idist), (onembed, ostride, odist)];
    // SAFETY: the requirements are those of this function.
    unsafe {
        let created = Plan::many((rank, n), layouts, Kind::new(kind)?, batch)?;
        make(plan, created, size)
    }
}

/// `cufftEstimateMany`.
///
/// # Safety
/// `size` must be null or writable, and the arrays must be null or have `rank` elements.
pub unsafe fn estimate_many<N: Copy + TryInto<i64>>(
    rank: c_int,
    n: *mut N,
    inembed: *mut N,
    istride: N,
    idist: N,
    onembed: *mut N,
    ostride: N,
    odist: N,
    kind: c_int,
    batch: N,
    size: *mut usize,
) -> CallResult {
    let layouts = [(inembed, istride, idist), (onembed, ostride, odist)];
    // SAFETY: the requirements are those of this function.
    unsafe {
        Plan::many((rank, n), layouts, Kind::new(kind)?, batch)?;
        write_size(size)
    }
}

/// `cufftGetSizeMany`.
///
/// # Safety
/// `size` must be null or writable, and the arrays must be null or have `rank` elements.
pub unsafe fn size_many<N: Copy + TryInto<i64>>(
    plan: Handle,
    rank: c_int,
    n: *mut N,
    inembed: *mut N,
    istride: N,
    idist: N,
    onembed: *mut N,
    ostride: N,
    odist: N,
    kind: c_int,
    batch: N,
    size: *mut usize,
) -> CallResult {
    with(plan, |_| ())?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        estimate_many(
            rank, n, inembed, istride, idist, onembed, ostride, odist, kind, batch, size,
        )
    }
}

/// `cufftXtMakePlanMany`, for single and double precision.
///
/// # Safety
/// `size` must be null or writable, and the arrays must be null or have `rank` elements.
pub unsafe fn make_xt(
    plan: Handle,
    rank: c_int,
    n: *mut c_longlong,
    inembed: *mut c_longlong,
    istride: c_longlong,
    idist: c_longlong,
    input: c_int,
    onembed: *mut c_longlong,
    ostride: c_longlong,
    odist: c_longlong,
    output: c_int,
    batch: c_longlong,
    size: *mut usize,
    _: c_int,
) -> CallResult {
    let layouts = [(inembed, istride, idist), (onembed, ostride, odist)];
    // SAFETY: the requirements are those of this function.
    unsafe {
        let created = Plan::many((rank, n), layouts, Kind::of_types(input, output)?, batch)?;
        make(plan, created, size)
    }
}

/// `cufftGetSize`.
///
/// # Safety
/// `size` must be null or writable.
pub unsafe fn size(plan: Handle, size: *mut usize) -> CallResult {
    planned(plan)?;
    // SAFETY: the requirements are those of this function.
    unsafe { write_size(size) }
}

/// `cufftSetStream`.
///
/// # Safety
/// None: the handles are looked up.
pub unsafe fn set_stream(plan: Handle, stream: CUstream) -> CallResult {
    with(plan, |settings| settings.stream = Stream(stream))
}

/// `cufftSetWorkArea`: the host needs none.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_work_area(plan: Handle, _: *mut c_void) -> CallResult {
    with(plan, |_| ())
}

/// `cufftSetAutoAllocation`: the host needs no work area.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_automatic(plan: Handle, _: c_int) -> CallResult {
    with(plan, |_| ())
}

/// The version that `cufftGetVersion` returns, of CUDA 12.8.
const VERSION: c_int = 11_303;

/// `cufftGetVersion`.
///
/// # Safety
/// `version` must be null or writable.
pub unsafe fn version(version: *mut c_int) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(version, VERSION, INVALID_VALUE) }
}

/// `cufftGetProperty`.
///
/// # Safety
/// `value` must be null or writable.
pub unsafe fn property(kind: c_int, value: *mut c_int) -> CallResult {
    let parts = [VERSION / 1000, VERSION / 100 % 10, VERSION % 100];
    // SAFETY: the requirements are those of this function.
    unsafe { write_property(value, kind, parts, INVALID_VALUE) }
}

/// `cufftXtSetCallback`: device code cannot be called.
///
/// # Safety
/// None: the arguments are ignored.
pub unsafe fn set_callback(
    _: Handle,
    _: *mut *mut c_void,
    _: c_int,
    _: *mut *mut c_void,
) -> CallResult {
    cuda_driver::warn(format_args!(
        "cufftXtSetCallback is not supported on the simulator: call the functions in kernels before and after the transform"
    ));
    Err(NOT_IMPLEMENTED)
}
