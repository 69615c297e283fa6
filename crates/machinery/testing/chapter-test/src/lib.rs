//! Test support that drives a chapter's program as a user would: runs, invalid input, records.
//!
//! Every run is on the simulator, in an empty folder. Each function panics with the program's output if its
//! expectation is not met, which fails the calling test.

mod chapter;
mod profile;
#[cfg(unix)]
mod terminal;

#[cfg(target_os = "linux")]
pub use chapter::available_memory;
pub use chapter::{Chapter, INVALID_SIZES, Run, check_record, output_of, run_child};
pub use profile::{body, counter, global, row, rows, variants};
#[cfg(unix)]
pub use terminal::Terminal;

/// Defines `chapter()`, which returns the chapter `$name`, and tests, each of which calls methods of it:
/// `a_test: method(argument), method(argument);`.
#[macro_export]
macro_rules! chapter {
    ($name:literal; $($(#[$attribute:meta])* $test:ident: $($method:ident($($argument:expr),*)),+;)*) => {
        fn chapter() -> $crate::Chapter {
            $crate::Chapter::new(env!(concat!("CARGO_BIN_EXE_", $name)))
        }

        $($(#[$attribute])* #[test] fn $test() { $(chapter().$method($($argument),*);)+ })*
    };
}

/// Defines tests, in a module if one is named, each of which calls `$function` with its arguments:
/// `a_test: argument, argument;`.
#[macro_export]
macro_rules! cases {
    (mod $module:ident, $function:ident; $($cases:tt)*) => {
        mod $module { $crate::cases! { super::$function; $($cases)* } }
    };
    ($function:path; $($test:ident: $($argument:expr),+;)*) => {
        $(#[test] fn $test() { $function($($argument),+); })*
    };
}
