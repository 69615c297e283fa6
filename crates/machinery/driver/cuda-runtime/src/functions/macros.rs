//! Macros that turn the lines of a table into exported C functions.

/// Expands to the call of a line's implementation, or to an error if it has none.
macro_rules! call_implementation {
    ($name:ident ($($argument:ident)*)) => {{
        let _ = ($($argument,)*);
        unsupported(stringify!($name))
    }};
    ($name:ident ($($argument:ident)*) $implementation:path) => {
        // SAFETY: the C function and its implementation have the same safety contract.
        unsafe { $implementation($($argument),*) }
    };
}

/// Defines the functions of a table's lines, and the list of all. A line consists of the function's C
/// signature and its implementation; a line without `=>` is unimplemented. The name after `|` is the
/// variant for programs compiled with per-thread default streams.
macro_rules! functions {
    ($(
        $name:ident $arguments:tt $(| $per_thread:ident)? $(=> $implementation:path)?;
    )*) => {
        $(table_line!($name [$($per_thread)?] $arguments [$($implementation)?]);)*

        /// All functions of this table.
        pub(super) static ALL: &[Entry] = &[
            $(
                entry!($name $arguments),
                $(entry!($per_thread $arguments),)?
            )*
        ];
    };
}

/// Defines the one or two functions of a table's line.
macro_rules! table_line {
    ($name:ident [] $arguments:tt $implementation:tt) => {
        function!($name, $name, Legacy, $arguments $implementation);
    };
    ($name:ident [$per_thread:ident] $arguments:tt $implementation:tt) => {
        function!($name, $name, Legacy, $arguments $implementation);
        function!($per_thread, $name, PerThread, $arguments $implementation);
    };
}

/// Defines an exported C function whose null stream is the given default stream.
macro_rules! function {
    (
        $c_name:ident, $name:ident, $default:ident,
        ($($argument:ident: $type:ty),* $(,)?) [$($implementation:path)?]
    ) => {
        /// The CUDA runtime API's function of this name.
        ///
        /// # Safety
        /// The arguments must meet the requirements of NVIDIA's documentation of this function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $c_name($($argument: $type),*) -> Code {
            call(stringify!($name), DefaultStream::$default, || {
                call_implementation!($name ($($argument)*) $($implementation)?)
            })
        }
    };
}

/// Expands to a function's entry in the list of all.
macro_rules! entry {
    ($name:ident ($($argument:ident: $type:ty),* $(,)?)) => {
        Entry::new(
            stringify!($name),
            $name as unsafe extern "C" fn($($type),*) -> Code as *const (),
        )
    };
}
