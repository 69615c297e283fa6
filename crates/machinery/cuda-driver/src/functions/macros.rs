//! From a line of the table to the function that C calls, and to all who may answer it.

/// What the simulator does for one line of the table.
macro_rules! simulate {
    ($name:ident ($($argument:ident)*)) => {{
        let _ = ($($argument,)*);
        not_simulated(stringify!($name))
    }};
    ($name:ident ($($argument:ident)*) $implementation:path) => {
        // SAFETY: the C caller's promises about its pointers are the implementation's too.
        unsafe { $implementation($($argument),*) }
    };
}

/// Ends a function with an error where the calling thread may not call the driver. A line that ends
/// in `always` is a function that any thread may call at any time, so nothing is asked for it.
macro_rules! permitted {
    (always) => {};
    () => {
        permitted()?;
    };
}

/// Who answers a function before `cuInit` has chosen: the simulator where it may be called at any
/// time, or else an error.
macro_rules! initial {
    ($name:ident always) => {
        simulated::$name
    };
    ($name:ident) => {
        before::$name
    };
}

/// The function that answers before `cuInit` has chosen, for those that have to wait for it.
macro_rules! before {
    ($name:ident ($($type:ty),*) always) => {};
    ($name:ident ($($type:ty),*)) => {
        pub unsafe extern "C" fn $name($(_: $type),*) -> Code {
            cuda_sim::driver::CudaError::NotInitialized.code()
        }
    };
}

/// Makes of a table's lines what C calls, what may answer, and the list of all.
macro_rules! functions {
    ($(
        $name:ident($($argument:ident: $type:ty),* $(,)?)
            $(=> $implementation:path $(, $always:ident)?)?;
    )*) => {
        $(
            /// The driver API's function of this name.
            ///
            /// # Safety
            /// As its documentation asks of the C caller.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> Code {
                let function = slots::$name.load(Ordering::Acquire);
                // SAFETY: only functions of this very signature are ever stored in this slot.
                let function = unsafe {
                    std::mem::transmute::<*mut (), unsafe extern "C" fn($($type),*) -> Code>(function)
                };
                // SAFETY: the caller's promise.
                unsafe { function($($argument),*) }
            }
        )*

        /// The functions that answer now.
        mod slots {
            use super::*;
            $(pub static $name: AtomicPtr<()> = AtomicPtr::new(
                initial!($name $($($always)?)?) as *mut (),
            );)*
        }

        /// The answers before `cuInit`.
        mod before {
            use super::*;
            $(before!($name ($($type),*) $($($always)?)?);)*
        }

        /// The simulator's answers.
        mod simulated {
            use super::*;
            $(pub unsafe extern "C" fn $name($($argument: $type),*) -> Code {
                guarded(stringify!($name), || {
                    permitted!($($($always)?)?);
                    simulate!($name ($($argument)*) $($implementation)?)
                })
            })*
        }

        /// The answers where NVIDIA's library lacks the function.
        mod absent {
            use super::*;
            $(pub unsafe extern "C" fn $name($(_: $type),*) -> Code {
                not_in_library(stringify!($name))
            })*
        }

        /// All functions.
        pub(crate) static FUNCTIONS: &[EntryPoint] = &[$(EntryPoint {
            name: concat!(stringify!($name), "\0"),
            slot: &slots::$name,
            // SAFETY: one function pointer is like another; a slot's reader restores the type.
            simulated: unsafe {
                std::mem::transmute::<unsafe extern "C" fn($($type),*) -> Code, Erased>(
                    simulated::$name,
                )
            },
            // SAFETY: as above.
            absent: unsafe {
                std::mem::transmute::<unsafe extern "C" fn($($type),*) -> Code, Erased>(absent::$name)
            },
        }),*];

        /// What C calls, of each function.
        pub(super) static EXPORTED: &[Erased] = &[$(
            // SAFETY: one function pointer is like another; this one is never called.
            unsafe {
                std::mem::transmute::<unsafe extern "C" fn($($type),*) -> Code, Erased>($name)
            }
        ),*];

        /// All functions, and whether the simulator does them.
        #[cfg(test)]
        pub(crate) static SIMULATED: &[(&str, bool)] =
            &[$((stringify!($name), is_given!($($implementation)?))),*];
    };
}

/// Whether a line of the table says what the simulator does.
#[cfg(test)]
macro_rules! is_given {
    () => {
        false
    };
    ($implementation:path) => {
        true
    };
}
