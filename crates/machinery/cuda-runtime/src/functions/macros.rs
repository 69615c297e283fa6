//! From a line of a table to the function that C calls.

/// What the runtime does for one line of a table.
macro_rules! answer {
    ($name:ident ($($argument:ident)*)) => {{
        let _ = ($($argument,)*);
        missing(stringify!($name))
    }};
    ($name:ident ($($argument:ident)*) $implementation:path) => {
        // SAFETY: the C caller's promises about its pointers are the implementation's too.
        unsafe { $implementation($($argument),*) }
    };
}

/// Makes functions of a table's lines, and the list of all. A line is the function's C signature and what
/// does it; one without `=>` is missing. The name after `|` is the same function for a program
/// that has a default stream for each thread.
macro_rules! functions {
    ($(
        $name:ident $arguments:tt $(| $per_thread:ident)? $(=> $implementation:path)?;
    )*) => {
        $(line!($name [$($per_thread)?] $arguments [$($implementation)?]);)*

        /// All functions of this table.
        pub(super) static ALL: &[Entry] = &[
            $(
                entry!($name $arguments),
                $(entry!($per_thread $arguments),)?
            )*
        ];
    };
}

/// The functions that one line of a table stands for.
macro_rules! line {
    ($name:ident [] $arguments:tt $implementation:tt) => {
        function!($name, $name, Legacy, $arguments $implementation);
    };
    ($name:ident [$per_thread:ident] $arguments:tt $implementation:tt) => {
        function!($name, $name, Legacy, $arguments $implementation);
        function!($per_thread, $name, PerThread, $arguments $implementation);
    };
}

/// A function that C calls, for which a null stream is the default one named.
macro_rules! function {
    (
        $c_name:ident, $name:ident, $default:ident,
        ($($argument:ident: $type:ty),* $(,)?) [$($implementation:path)?]
    ) => {
        /// The runtime API's function of this name.
        ///
        /// # Safety
        /// As its documentation asks of the C caller.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $c_name($($argument: $type),*) -> Code {
            call(stringify!($name), DefaultStream::$default, || {
                answer!($name ($($argument)*) $($implementation)?)
            })
        }
    };
}

/// A function's entry in the list of all.
macro_rules! entry {
    ($name:ident ($($argument:ident: $type:ty),* $(,)?)) => {
        Entry::new(
            stringify!($name),
            $name as unsafe extern "C" fn($($type),*) -> Code as *const (),
        )
    };
}
