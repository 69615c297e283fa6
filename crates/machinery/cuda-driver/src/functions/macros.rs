//! From a line of the table to the function that C calls, and to all who may answer it.

/// What the simulator does for one line of the table.
macro_rules! simulate {
    ($name:ident ($($argument:ident)*) []) => {{
        let _ = ($($argument,)*);
        not_simulated(stringify!($name))
    }};
    ($name:ident ($($argument:ident)*) [$implementation:path $(, always)?]) => {
        // SAFETY: the C caller's promises about its pointers are the implementation's too.
        unsafe { $implementation($($argument),*) }
    };
}

/// Ends a function with an error where the calling thread may not call the driver. A line that says
/// `always` is a function that any thread may call at any time, so nothing is asked for it.
macro_rules! permitted {
    ([$implementation:path, always]) => {};
    ([$($implementation:path)?]) => {
        permitted()?;
    };
}

/// Has a null handle mean the calling thread's own stream while the function runs, if it is one of those.
macro_rules! default_stream {
    (legacy) => {};
    (per_thread) => {
        let _until_the_end = OwnDefault::begin();
    };
}

/// Who answers a function before `cuInit` has chosen: the simulator where it may be called at any
/// time, or else an error.
macro_rules! initial {
    ([$implementation:path, always]) => {
        simulated
    };
    ([$($implementation:path)?]) => {
        before
    };
}

/// The function that answers before `cuInit` has chosen, for those that have to wait for it.
macro_rules! before {
    (($($type:ty),*) [$implementation:path, always]) => {};
    (($($type:ty),*) [$($implementation:path)?]) => {
        unsafe extern "C" fn before($(_: $type),*) -> Code {
            cuda_sim::driver::CudaError::NotInitialized.code()
        }
    };
}

/// Whether a line of the table says what the simulator does.
#[cfg(test)]
macro_rules! is_given {
    ([]) => {
        false
    };
    ([$($implementation:tt)*]) => {
        true
    };
}

/// Which stream a null handle means to a function.
macro_rules! default_of {
    (legacy) => {
        DefaultStream::Legacy
    };
    (per_thread) => {
        DefaultStream::PerThread
    };
}

/// One function: what C calls, and a module of the same name with those who may answer.
macro_rules! function {
    ($since:literal $name:ident $default:ident
        ($($argument:ident: $type:ty),* $(,)?) $done:tt) => {
        /// The driver API's function of this name.
        ///
        /// # Safety
        /// As its documentation asks of the C caller.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> Code {
            let function = $name::SLOT.load(Ordering::Acquire);
            // SAFETY: only functions of this very signature are ever stored in this slot.
            let function = unsafe {
                std::mem::transmute::<*mut (), unsafe extern "C" fn($($type),*) -> Code>(function)
            };
            // SAFETY: the caller's promise.
            unsafe { function($($argument),*) }
        }

        mod $name {
            use super::*;

            type Function = unsafe extern "C" fn($($type),*) -> Code;

            /// The function that answers now.
            pub static SLOT: AtomicPtr<()> = AtomicPtr::new(initial!($done) as *mut ());

            before!(($($type),*) $done);

            static CALLS: AtomicU64 = AtomicU64::new(0);

            unsafe extern "C" fn simulated($($argument: $type),*) -> Code {
                guarded(stringify!($name), || {
                    CALLS.fetch_add(1, Ordering::Relaxed);
                    permitted!($done);
                    default_stream!($default);
                    simulate!($name ($($argument)*) $done)
                })
            }

            unsafe extern "C" fn absent($(_: $type),*) -> Code {
                not_in_library(stringify!($name))
            }

            pub static ENTRY: EntryPoint = EntryPoint {
                name: concat!(stringify!($name), "\0"),
                since: $since,
                default_stream: default_of!($default),
                // SAFETY: one function pointer is like another; nobody calls it as it is here.
                exported: unsafe { std::mem::transmute::<Function, Erased>(super::$name) },
                calls: &CALLS,
                answers: Some(Answers {
                    slot: &SLOT,
                    // SAFETY: as above; a slot's reader restores the type.
                    simulated: unsafe { std::mem::transmute::<Function, Erased>(simulated) },
                    // SAFETY: as above.
                    absent: unsafe { std::mem::transmute::<Function, Erased>(absent) },
                }),
                #[cfg(test)]
                simulated: is_given!($done),
                #[cfg(test)]
                arguments: &[$(stringify!($type)),*],
            };
        }
    };
}

/// A function whose arguments are unknown here: whoever answers, it is not done.
macro_rules! lacking {
    ($since:literal $name:ident $default:ident) => {
        /// The driver API's function of this name, whose arguments are left where they are.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Code {
            $name::CALLS.fetch_add(1, Ordering::Relaxed);
            not_done(stringify!($name))
        }

        mod $name {
            use super::*;

            pub static CALLS: AtomicU64 = AtomicU64::new(0);

            pub static ENTRY: EntryPoint = EntryPoint {
                name: concat!(stringify!($name), "\0"),
                since: $since,
                default_stream: default_of!($default),
                calls: &CALLS,
                // SAFETY: one function pointer is like another; nobody calls it as it is here.
                exported: unsafe {
                    std::mem::transmute::<extern "C" fn() -> Code, Erased>(super::$name)
                },
                answers: None,
                #[cfg(test)]
                simulated: false,
                #[cfg(test)]
                arguments: &[],
            };
        }
    };
}

/// Makes of a table's lines what C calls, what may answer, and the list of all.
macro_rules! functions {
    (
        $(
            $since:literal $name:ident $arguments:tt $done:tt
                $(/ $own_since:literal $own:ident)?;
        )*
        $(lacking { $($lacking_since:literal $lacking:ident $(/ $lacking_own_since:literal $lacking_own:ident)?,)* })?
    ) => {
        $(
            function!($since $name legacy $arguments $done);
            $(function!($own_since $own per_thread $arguments $done);)?
        )*
        $($(
            lacking!($lacking_since $lacking legacy);
            $(lacking!($lacking_own_since $lacking_own per_thread);)?
        )*)?

        /// The functions of this file.
        pub(super) static FUNCTIONS: &[&EntryPoint] = &[
            $(&$name::ENTRY, $(&$own::ENTRY,)?)*
            $($(&$lacking::ENTRY, $(&$lacking_own::ENTRY,)?)*)?
        ];
    };
}
