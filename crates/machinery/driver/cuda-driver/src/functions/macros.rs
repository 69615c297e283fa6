//! The macros that generate exported functions and their entry points from the rows of the table.

/// Calls the simulator's implementation of one row, with the arguments converted to the types it takes.
macro_rules! call_simulator {
    ($name:ident ($($argument:ident)*) []) => {{
        let _ = ($($argument,)*);
        not_simulated(stringify!($name))
    }};
    ($name:ident ($($argument:ident)*) [$implementation:path $(, always)?]) => {
        // SAFETY: the arguments are the C caller's, which meet the requirements that the C function documents;
        // the conversions and the implementation require no more.
        unsafe { $implementation($(Argument::from_c($argument)?),*) }
    };
}

/// Returns an error if the calling thread may not call the driver. Skipped for rows marked `always`, which
/// any thread may call at any time.
macro_rules! check_permitted {
    ([$implementation:path, always]) => {};
    ([$($implementation:path)?]) => {
        check_permitted()?;
    };
}

/// Makes a null handle denote the calling thread's default stream during the call, for `per_thread` functions.
macro_rules! default_stream {
    (legacy) => {};
    (per_thread) => {
        let _guard = PerThreadDefault::enable();
    };
}

/// The function in the slot before `cuInit`: the simulator's implementation for rows marked `always`,
/// otherwise one that returns an error.
macro_rules! initial_function {
    ([$implementation:path, always]) => {
        simulated
    };
    ([$($implementation:path)?]) => {
        before_init
    };
}

/// Defines the function that returns `CUDA_ERROR_NOT_INITIALIZED` before `cuInit`; rows marked `always` need
/// none.
macro_rules! before_init {
    (($($type:ty),*) [$implementation:path, always]) => {};
    (($($type:ty),*) [$($implementation:path)?]) => {
        unsafe extern "C" fn before_init($(_: $type),*) -> Code {
            cuda_sim::driver::CudaError::NotInitialized.code()
        }
    };
}

/// Expands to true if a row names an implementation in the simulator.
#[cfg(test)]
macro_rules! is_implemented {
    ([]) => {
        false
    };
    ([$($implementation:tt)*]) => {
        true
    };
}

/// The [`DefaultStream`] that a null handle denotes.
macro_rules! default_stream_kind {
    (legacy) => {
        DefaultStream::Legacy
    };
    (per_thread) => {
        DefaultStream::PerThread
    };
}

/// Defines the entry point of a function in the function's module.
macro_rules! entry_point {
    (
        $since:literal $name:ident $default:ident ($($type:ty),*) $simulator:tt,
        $($field:ident: $value:expr,)*
    ) => {
        /// The entry point. A static, because calls read its slot and C functions take no argument that could refer to it.
        pub static ENTRY: EntryPoint = EntryPoint {
            name: concat!(stringify!($name), "\0"),
            since: $since,
            default_stream: default_stream_kind!($default),
            calls: AtomicU64::new(0),
            #[cfg(test)]
            simulated: is_implemented!($simulator),
            #[cfg(test)]
            arguments: &[$(stringify!($type)),*],
            $($field: $value,)*
        };
    };
}

/// Generates one function: the exported C function, and a module of the same name with its entry point.
macro_rules! function {
    ($since:literal $name:ident $default:ident
        ($($argument:ident: $type:ty),* $(,)?) $simulator:tt) => {
        /// The driver API's function of this name.
        ///
        /// # Safety
        /// The caller must meet the requirements in the driver API's documentation.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> Code {
            let function = $name::ENTRY.slot.load(Ordering::Acquire);
            // SAFETY: only functions of exactly this signature are stored in this slot.
            let function = unsafe {
                std::mem::transmute::<*mut (), unsafe extern "C" fn($($type),*) -> Code>(function)
            };
            // SAFETY: the C caller's arguments are forwarded unchanged to a function with the same contract.
            unsafe { function($($argument),*) }
        }

        mod $name {
            use super::*;

            type Function = unsafe extern "C" fn($($type),*) -> Code;

            before_init!(($($type),*) $simulator);

            #[allow(unused_unsafe, reason = "a call without arguments is safe")]
            unsafe extern "C" fn simulated($($argument: $type),*) -> Code {
                $crate::api::telemetry::report_failure(stringify!($name), $crate::api::error::find, || {
                    catch_panic(stringify!($name), &mut || {
                        ENTRY.calls.fetch_add(1, Ordering::Relaxed);
                        check_permitted!($simulator);
                        default_stream!($default);
                        call_simulator!($name ($($argument)*) $simulator)
                    })
                })
            }

            unsafe extern "C" fn missing($(_: $type),*) -> Code {
                not_in_library(stringify!($name))
            }

            entry_point! {
                $since $name $default ($($type),*) $simulator,
                slot: AtomicPtr::new(initial_function!($simulator) as *mut ()),
                // SAFETY: function pointers have one size, and the type is restored before every call.
                exported: unsafe { std::mem::transmute::<Function, ErasedFn>(super::$name) },
                implementations: Some(Implementations {
                    // SAFETY: function pointers have one size; the exported function restores the slot's type.
                    simulated: unsafe { std::mem::transmute::<Function, ErasedFn>(simulated) },
                    // SAFETY: function pointers have one size; the exported function restores the slot's type.
                    missing: unsafe { std::mem::transmute::<Function, ErasedFn>(missing) },
                }),
            }
        }
    };
}

/// An entry point with unknown arguments; always reports that it is not implemented.
macro_rules! unsupported {
    ($since:literal $name:ident $default:ident) => {
        /// The driver API's function of this name. The arguments are ignored: their types are unknown here.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Code {
            $name::ENTRY.calls.fetch_add(1, Ordering::Relaxed);
            not_implemented(stringify!($name))
        }

        mod $name {
            use super::*;

            entry_point! {
                $since $name $default () [],
                slot: AtomicPtr::new(null_mut()),
                // SAFETY: function pointers have one size, and the type is restored before every call.
                exported: unsafe {
                    std::mem::transmute::<extern "C" fn() -> Code, ErasedFn>(super::$name)
                },
                implementations: None,
            }
        }
    };
}

/// Generates the exported functions, entry points and the list `FUNCTIONS` from the rows of one file.
macro_rules! functions {
    (
        $(
            $since:literal $name:ident $arguments:tt $simulator:tt
                $(/ $ptsz_since:literal $ptsz:ident)?;
        )*
        $(unsupported { $($unsupported_since:literal $unsupported:ident $(/ $unsupported_ptsz_since:literal $unsupported_ptsz:ident)?,)* })?
    ) => {
        $(
            function!($since $name legacy $arguments $simulator);
            $(function!($ptsz_since $ptsz per_thread $arguments $simulator);)?
        )*
        $($(
            unsupported!($unsupported_since $unsupported legacy);
            $(unsupported!($unsupported_ptsz_since $unsupported_ptsz per_thread);)?
        )*)?

        /// The functions of this file.
        pub(super) const FUNCTIONS: &[&EntryPoint] = &[
            $(&$name::ENTRY, $(&$ptsz::ENTRY,)?)*
            $($(&$unsupported::ENTRY, $(&$unsupported_ptsz::ENTRY,)?)*)?
        ];
    };
}
