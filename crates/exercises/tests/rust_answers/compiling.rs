//! Submissions that try to include more than their own text at compile time.

use crate::Try;

/// The message for a submission that includes another file.
const ONE_FILE: &[&str] = &["An answer is one file"];

/// A correct submission with additional items that must be rejected at compile time.
const fn taken_in(name: &'static str, items: &'static str, says: &'static [&'static str]) -> Try {
    Try::rejected(name, "", "compile", says).items(items)
}

pub const TRIES: &[Try] = &[
    taken_in(
        "a file of the system's as text",
        r#"pub const SECRET: &str = include_str!("/etc/passwd");"#,
        ONE_FILE,
    ),
    taken_in(
        "a file of the teacher's as bytes",
        r#"pub const SECRET: &[u8] = include_bytes!("FOLDER/teacher.txt");"#,
        ONE_FILE,
    ),
    taken_in(
        "a file that is not there",
        r#"pub const SECRET: &str = include_str!("FOLDER/no-such-file.txt");"#,
        ONE_FILE,
    ),
    taken_in(
        "a file by another name of the macro",
        r#"use std::include_str as text; pub const SECRET: &str = text!("FOLDER/teacher.txt");"#,
        ONE_FILE,
    ),
    taken_in(
        "a solution as code",
        r#"mod solution { include!("CHECKOUT/kernels/exercises/03-blocks/solution.rs"); }"#,
        ONE_FILE,
    ),
    taken_in(
        "another student's answer as a module",
        r#"#[path = "FOLDER/ann/03-blocks.rs"] mod ann;"#,
        ONE_FILE,
    ),
    taken_in(
        "a module by a macro",
        r#"macro_rules! module { ($how:ident) => { #[$how = "FOLDER/ann/03-blocks.rs"] mod ann; } } module!(path);"#,
        ONE_FILE,
    ),
    taken_in(
        "a module in a condition",
        r#"#[cfg_attr(all(), path = "FOLDER/ann/03-blocks.rs")] mod ann;"#,
        ONE_FILE,
    ),
    taken_in("a module without a file", "mod ann;", ONE_FILE),
    taken_in(
        "documentation from a file",
        r#"#[doc = include_str!("FOLDER/teacher.txt")] pub fn documented() {}"#,
        ONE_FILE,
    ),
    taken_in(
        "the library with the solutions",
        r#"pub static COURSE: &[u8] = include_bytes!("COURSE.RLIB");"#,
        ONE_FILE,
    ),
    taken_in(
        "an endless file",
        r#"pub static ZEROS: &[u8] = include_bytes!("/dev/zero");"#,
        &[],
    )
    .within("20"),
    taken_in(
        "a file of the compiler's own",
        r#"pub static LINKER: &[u8] = include_bytes!("/usr/bin/cc");"#,
        ONE_FILE,
    ),
    taken_in(
        "the compiler's memory",
        r#"pub static MAPS: &[u8] = include_bytes!("/proc/self/maps");"#,
        ONE_FILE,
    ),
    taken_in(
        "the compiler's environment",
        r#"pub static ALL: &[u8] = include_bytes!("/proc/self/environ");"#,
        ONE_FILE,
    ),
    taken_in(
        "a variable",
        r#"pub const PATH: &str = env!("PATH");"#,
        &["`PATH`", "`env!`"],
    ),
    taken_in(
        "a variable that may be there",
        r#"pub const HOME: Option<&str> = option_env!("HOME");"#,
        &["`HOME`", "`option_env!`"],
    ),
    taken_in(
        "the course's library",
        "extern crate exercises;",
        &["can't find crate", "exercises"],
    ),
    taken_in(
        "a library of the answers' library",
        "extern crate serde_json;",
        &["serde_json"],
    ),
    taken_in(
        "unsafe code",
        "pub fn read() -> u8 { unsafe { *(8 as *const u8) } }",
        &["answers/eve.rs:1:23", "unsafe"],
    ),
    taken_in(
        "unsafe code that is allowed",
        "#[allow(unsafe_code)] pub fn read() -> u8 { unsafe { *(8 as *const u8) } }",
        &["unsafe"],
    ),
    taken_in(
        "a function in place of another",
        "#[unsafe(no_mangle)] pub extern \"C\" fn write() -> isize { 0 }",
        &["no_mangle"],
    ),
    taken_in(
        "code at the start of the program",
        "#[unsafe(link_section = \".init_array\")] pub static START: extern \"C\" fn() = start; extern \"C\" fn start() {}",
        &["link_section"],
    ),
    taken_in(
        "a function of the system's",
        "unsafe extern \"C\" { pub safe fn getpid() -> i32; }",
        &["unsafe"],
    ),
    taken_in(
        "assembly",
        "std::arch::global_asm!(\".incbin \\\"/etc/passwd\\\"\");",
        &["global_asm"],
    ),
    taken_in(
        "a compiler kept busy",
        "#[allow(long_running_const_eval)] pub const LOOP: u32 = { let mut n = 0_u32; while n < 1 { n *= 2; } n }; pub static USE: u32 = LOOP;",
        // Ended by the CPU time limit, or by the wall clock if other processes keep the cores busy.
        &["It was ended after"],
    )
    .within("4"),
    taken_in(
        "macros without an end",
        "macro_rules! deeper { ($n:expr) => { deeper!($n + 1); } } deeper!(1);",
        &["recursion limit"],
    ),
    taken_in(
        "macros that double",
        "macro_rules! double { ($($t:tt)*) => { double!($($t)* $($t)*); } } double!(a);",
        &[],
    )
    .within("5"),
    taken_in(
        "a message of its own",
        "compile_error!(\"@reply passed\");",
        &["rustc does not compile it", "@reply passed"],
    ),
    taken_in(
        "a hundred thousand errors",
        "macro_rules! ten { ($($t:tt)*) => { $($t)* $($t)* $($t)* $($t)* $($t)* $($t)* $($t)* $($t)* $($t)* $($t)* } }
        pub fn wrong() { ten!(ten!(ten!(ten!(let _: u8 = \"a long enough text for a message\";)))); }",
        &["rustc does not compile it"],
    ),
];
