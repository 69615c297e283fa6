//! The exported C functions of the libraries: the macro that defines them, and what they have in common.
//!
//! A library lists its functions with `functions!`. A row has the names, each with the types that its implementation is
//! generic over, the C signature, in which `T` and `U` are the first and the second of these types, and the
//! implementation, which gets the arguments unchanged:
//!
//! ```text
//! [cublasSaxpy_v2 f32, cublasDaxpy_v2 f64] (handle: Handle, n: c_int, alpha: *const T, …) => level1::axpy;
//! ```
//!
//! On a GPU, the exported function jumps to NVIDIA's function of this name. A row that ends in `, local` needs no device
//! and always calls the implementation, which then returns C's type; it has an `-> type` unless that is `c_int`.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_driver::{report_failure, warn};
use parking_lot::Mutex;

use crate::nvidia::Library;

/// A status code of a library other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub c_int);

impl Status {
    /// An error of the driver or runtime API: [`call`] replaces it by the library's status for a failed execution.
    pub const OF_DRIVER: Self = Self(c_int::MIN);
}

/// The result of an implementation.
pub type CallResult = Result<(), Status>;

/// An exported C function. Its entry in a table keeps the linker from dropping it.
pub struct Entry {
    pub name: &'static str,
    function: *const (),
}

// SAFETY: `function` is the address of a function, which never changes and is not read through.
unsafe impl Sync for Entry {}

impl Entry {
    pub const fn new(name: &'static str, function: *const ()) -> Self {
        Self { name, function }
    }

    pub fn is_linked(&self) -> bool {
        !self.function.is_null()
    }
}

/// Runs the implementation of the function `name`. A panic becomes the library's internal error, because unwinding into C
/// is undefined behaviour.
pub fn call(
    library: &Library,
    name: &'static str,
    implementation: impl FnOnce() -> CallResult,
) -> c_int {
    let mut status = library.internal_error;
    // While it runs, `name` is the function that the program called; a status of the library is not a CUDA error.
    report_failure(
        name,
        |_| None,
        || {
            status = match catch_unwind(AssertUnwindSafe(implementation)) {
                Ok(Ok(())) => 0,
                Ok(Err(Status::OF_DRIVER)) => library.execution_failed,
                Ok(Err(Status(code))) => code,
                Err(_) => {
                    warn(format_args!("internal error in {name}; please report it"));
                    library.internal_error
                }
            };
            0
        },
    );
    status
}

/// Defines the functions of a library from their rows, and the list `FUNCTIONS` of them all.
macro_rules! functions {
    ($library:ident; $(
        [$($name:ident $($type:ident)*),+ $(,)?] $arguments:tt $(-> $output:ty)?
            => $($path:ident)::+ $(, $mode:ident)?;
    )*) => {
        $(row!($library [$($name [$($type)*])+] $arguments [$($output)?] [$($path)::+] [$($mode)?]);)*

        /// The exported functions of this library.
        pub(crate) static FUNCTIONS: &[$crate::functions::Entry] = &[
            $($($crate::functions::Entry::new(stringify!($name), $name as *const ())),+),*
        ];
    };
}

/// Defines the functions of one row.
macro_rules! row {
    ($library:ident [$($name:ident $types:tt)+] $arguments:tt $output:tt $path:tt $mode:tt) => {
        $(
            function!($library $name $types $arguments $output $path $mode);
            pub use self::$name::$name;
        )+
    };
}

/// Defines one function, in a module of its name.
macro_rules! function {
    ($library:ident $name:ident $types:tt
        ($($argument:ident: $type:ty),* $(,)?) [] [$($path:ident)::+] []) => {
        pub mod $name {
            #[allow(unused_imports, reason = "not all signatures need the module's types")]
            use super::*;

            types!($types);

            /// NVIDIA's function of this name.
            ///
            /// # Safety
            /// The arguments must meet the requirements of NVIDIA's documentation of this function.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                type Function = unsafe extern "C" fn($($type),*) -> c_int;
                static SLOT: $crate::nvidia::Slot = $crate::nvidia::Slot::new();
                match SLOT.target(&$library, stringify!($name)) {
                    $crate::nvidia::Target::Simulator => {
                        // SAFETY: the C function and its implementation have the same requirements.
                        $crate::functions::call(&$library, stringify!($name), || unsafe {
                            generic!($types [$($path)::+] ($($argument),*))
                        })
                    }
                    $crate::nvidia::Target::Nvidia(function) => {
                        // SAFETY: NVIDIA documents this signature of the function of this name.
                        let function = unsafe {
                            std::mem::transmute::<$crate::nvidia::ErasedFn, Function>(function)
                        };
                        // SAFETY: the arguments are those of the C caller.
                        unsafe { function($($argument),*) }
                    }
                    $crate::nvidia::Target::Missing => $library.missing,
                }
            }
        }
    };
    ($library:ident $name:ident $types:tt
        $arguments:tt [] [$($path:ident)::+] [local]) => {
        function!($library $name $types $arguments [c_int] [$($path)::+] [local]);
    };
    ($library:ident $name:ident $types:tt
        ($($argument:ident: $type:ty),* $(,)?) [$output:ty] [$($path:ident)::+] [local]) => {
        pub mod $name {
            #[allow(unused_imports, reason = "not all signatures need the module's types")]
            use super::*;

            types!($types);

            /// NVIDIA's function of this name.
            ///
            /// # Safety
            /// The arguments must meet the requirements of NVIDIA's documentation of this function.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> $output {
                // SAFETY: the C function and its implementation have the same requirements.
                unsafe { generic!($types [$($path)::+] ($($argument),*)) }
            }
        }
    };
}

/// Names the types that an implementation is generic over.
macro_rules! types {
    ([]) => {};
    ([$first:ident]) => {
        #[allow(dead_code, reason = "not all signatures need the types")]
        type T = $first;
    };
    ([$first:ident $second:ident]) => {
        #[allow(dead_code, reason = "not all signatures need the types")]
        type T = $first;
        #[allow(dead_code, reason = "not all signatures need the types")]
        type U = $second;
    };
}

/// Calls an implementation with its types.
macro_rules! generic {
    ([] [$($path:ident)::+] $arguments:tt) => {
        $($path)::+ $arguments
    };
    ([$($type:ident)+] [$($path:ident)::+] $arguments:tt) => {
        $($path)::+::<$($type),+> $arguments
    };
}

/// Writes a result, which must have room; otherwise returns the status `invalid`.
///
/// # Safety
/// `output` must be null or writable.
pub unsafe fn write_output<T>(output: *mut T, value: T, invalid: Status) -> CallResult {
    if output.is_null() {
        return Err(invalid);
    }
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { output.write(value) };
    Ok(())
}

/// Writes a property of a library: a `libraryPropertyType` selects the major version, the minor version or the patch
/// level. For others, and without room, returns the status `invalid`.
///
/// # Safety
/// `output` must be null or writable.
pub unsafe fn write_property(
    output: *mut c_int,
    property: c_int,
    version: [c_int; 3],
    invalid: Status,
) -> CallResult {
    let index = usize::try_from(property).map_err(|_| invalid)?;
    let value = *version.get(index).ok_or(invalid)?;
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(output, value, invalid) }
}

/// The objects behind the handles of a library: a handle is a number that is never used again.
pub struct Handles<T> {
    objects: Mutex<BTreeMap<usize, T>>,
    next: AtomicUsize,
    /// The status for a handle that does not exist.
    invalid: Status,
}

impl<T> Handles<T> {
    pub const fn new(invalid: Status) -> Self {
        Self {
            objects: Mutex::new(BTreeMap::new()),
            next: AtomicUsize::new(1),
            invalid,
        }
    }

    /// Adds an object. Returns its handle.
    pub fn insert(&self, object: T) -> usize {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        self.objects.lock().insert(handle, object);
        handle
    }

    /// Calls `f` with the object of a handle.
    pub fn with<R>(&self, handle: usize, f: impl FnOnce(&mut T) -> R) -> Result<R, Status> {
        let mut objects = self.objects.lock();
        objects.get_mut(&handle).map(f).ok_or(self.invalid)
    }

    /// Removes and returns the object of a handle.
    pub fn remove(&self, handle: usize) -> Result<T, Status> {
        self.objects.lock().remove(&handle).ok_or(self.invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_not_reused() {
        let handles = Handles::new(Status(1));
        let first = handles.insert('a');
        assert_eq!(handles.with(first, |object| *object), Ok('a'));
        assert_eq!(handles.remove(first), Ok('a'));
        let second = handles.insert('b');
        assert_ne!(first, second);
        assert_eq!(handles.with(first, |object| *object), Err(Status(1)));
        assert_eq!(handles.remove(first), Err(Status(1)));
        assert_eq!(handles.with(0, |object| *object), Err(Status(1)));
    }
}
