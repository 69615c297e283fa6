//! Submissions that try to include more than their own text at compile time.

use crate::Attempt;

/// The message for a submission that includes another file.
const ONE_FILE: &[&str] = &["A submission is a single file"];

/// Lists correct submissions with additional items that must be rejected at compile time, as `name: items => parts of
/// the message;`.
macro_rules! includes {
    ($($name:literal: $items:literal => $parts:expr $(, $seconds:literal)?;)*) => {
        &[$(Attempt::rejected_as($name, "", "compile", $parts).with_items($items)$(.with_time_limit($seconds))?),*]
    };
}

pub const ATTEMPTS: &[Attempt] = includes! {
    "a system file as text": r#"pub const SECRET: &str = include_str!("/etc/passwd");"# => ONE_FILE;
    "a teacher's file as bytes":
        r#"pub const SECRET: &[u8] = include_bytes!("FOLDER/teacher.txt");"# => ONE_FILE;
    "a missing file":
        r#"pub const SECRET: &str = include_str!("FOLDER/no-such-file.txt");"# => ONE_FILE;
    "a file by a renamed macro":
        r#"use std::include_str as text; pub const SECRET: &str = text!("FOLDER/teacher.txt");"# => ONE_FILE;
    "a solution as code":
        r#"mod solution { include!("CHECKOUT/kernels/exercises/03-blocks/solution.rs"); }"# => ONE_FILE;
    "another student's submission as a module":
        r#"#[path = "FOLDER/ann/03-blocks.rs"] mod ann;"# => ONE_FILE;
    "a conditional module":
        r#"#[cfg_attr(all(), path = "FOLDER/ann/03-blocks.rs")] mod ann;"# => ONE_FILE;
    "a module without a file": "mod ann;" => ONE_FILE;
    "documentation from a file":
        r#"#[doc = include_str!("FOLDER/teacher.txt")] pub fn documented() {}"# => ONE_FILE;
    "the library with the solutions":
        r#"pub static COURSE: &[u8] = include_bytes!("COURSE.RLIB");"# => ONE_FILE;
    "an endless file": r#"pub static ZEROS: &[u8] = include_bytes!("/dev/zero");"# => &[], "20";
    "a compiler file": r#"pub static LINKER: &[u8] = include_bytes!("/usr/bin/cc");"# => ONE_FILE;
    "the compiler's memory":
        r#"pub static MAPS: &[u8] = include_bytes!("/proc/self/maps");"# => ONE_FILE;
    "the compiler's environment":
        r#"pub static ALL: &[u8] = include_bytes!("/proc/self/environ");"# => ONE_FILE;
    "an environment variable": r#"pub const PATH: &str = env!("PATH");"# => &["`env`", "while it is compiled"];
    "an optional environment variable":
        r#"pub const HOME: Option<&str> = option_env!("HOME");"# => &["`option_env`"];
    "a variable by a renamed macro": r#"use std::env as e; pub const PATH: &str = e!("PATH");"# => &["`PATH`", "`env!`"];
    "the course's library": "use exercises as _;" => &["exercises"];
    "a dependency of the answers library": "use serde_json as _;" => &["serde_json"];
    "unsafe code":
        "pub fn read() -> u8 { unsafe { *(8 as *const u8) } }" => &["Line 1, `unsafe`"];
    "unsafe code that is allowed":
        "#[allow(unsafe_code)] pub fn read() -> u8 { unsafe { *(8 as *const u8) } }" => &["unsafe"];
    "an overridden symbol":
        "#[unsafe(no_mangle)] pub extern \"C\" fn write() -> isize { 0 }" => &["`unsafe`"];
    "code at the start of the program":
        "#[unsafe(link_section = \".init_array\")] pub static START: extern \"C\" fn() = start; extern \"C\" fn start() {}"
        => &["`unsafe`"];
    "a system function": "unsafe extern \"C\" { pub safe fn getpid() -> i32; }" => &["unsafe"];
    "assembly": "std::arch::global_asm!(\".incbin \\\"/etc/passwd\\\"\");" => &["global_asm"];
    // Ended by the CPU time limit, or by the wall clock if other processes keep the cores busy.
    "a compiler kept busy":
        "#[allow(long_running_const_eval)] pub const LOOP: u32 = { let mut n = 0_u32; while n < 1 { n *= 2; } n }; pub static USE: u32 = LOOP;"
        => &["It was killed after"], "4";
    "a compile_error message":
        "compile_error!(\"@reply passed\");" => &["rustc cannot compile it", "@reply passed"];
    "ten thousand errors": "pub fn wrong() { TEN_THOUSAND_ERRORS }" => &["rustc cannot compile it"];
};
