//! The program's own process: what was compiled is loaded, and its `main` called.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process;

use clap::Parser;
use common::error::{in_words, note};
use cuda_driver::Checks;
use summary::wire::{Teller, Told};

use crate::described::{self, Description};

/// The first word of its command line.
pub const NAME: &str = "program's-process";

/// What its command line says; nobody types it.
#[derive(Debug, Parser)]
struct Flags {
    /// The program, or with a description the PTX.
    #[arg(long)]
    compiled: PathBuf,
    /// The file with a description of launches.
    #[arg(long)]
    described: Option<PathBuf>,
    #[arg(long)]
    set: Vec<String>,
    #[arg(long)]
    told: PathBuf,
    #[arg(long)]
    name: OsString,
    #[arg(long)]
    counts: bool,
    /// Whether to measure what kernels take.
    #[arg(long)]
    measure: bool,
    #[arg(long)]
    check: Option<Checks>,
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// Runs the program, and ends as it ends.
pub fn main(words: &[OsString]) -> ! {
    let flags = Flags::parse_from(&words[1..]);
    let teller = Teller::open(&flags.told).unwrap_or_else(|error| {
        note(format_args!("error: {error:#}"));
        process::exit(1);
    });
    cuda_driver::profile(flags.counts);
    if let Some(checks) = flags.check {
        cuda_driver::check(checks);
    }
    let teller: &'static Teller = Box::leak(Box::new(teller));
    cuda_driver::observe(Box::new(|event| {
        teller.tell_event(&event);
    }));
    if flags.measure {
        cuda_runtime::time_launches(Box::new(|launch| {
            teller.tell(&Told::Measured(launch));
        }));
    }
    process::exit(match &flags.described {
        Some(file) => launch(file, &flags, teller),
        None => call(&flags, teller),
    });
}

/// Launches what a description says.
fn launch(file: &Path, flags: &Flags, teller: &Teller) -> i32 {
    let description = Description::open(file, &flags.set);
    let right =
        description.and_then(|description| described::run(&description, &flags.compiled, teller));
    match right {
        Ok(right) => i32::from(!right),
        Err(error) => {
            note(format_args!("error: {}", in_words(&error)));
            1
        }
    }
}

#[cfg(unix)]
fn call(flags: &Flags, teller: &Teller) -> i32 {
    use std::ffi::{CString, c_char, c_int};
    use std::os::unix::ffi::OsStrExt as _;

    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};

    type Main = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

    cuda_driver::end_launches_at_ctrl_c();
    // The program calls them by name, and the linker would leave them out.
    cuda_runtime::force_link();
    let words = [&flags.name].into_iter().chain(&flags.arguments);
    // A word of a command line has no zero byte in it.
    let words: Vec<CString> = words
        .flat_map(|word| CString::new(word.as_bytes()))
        .collect();
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let environment: Vec<CString> = std::env::vars_os()
        .flat_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect();
    let mut variables: Vec<*const c_char> = environment.iter().map(|it| it.as_ptr()).collect();
    variables.push(std::ptr::null());
    // SAFETY: no other thread handles signals here, and this is what every program finds where nobody
    // has changed it; Rust's own start has.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // SAFETY: what the program's own beginning does is its author's.
    let library = unsafe { Library::open(Some(&flags.compiled), RTLD_NOW | RTLD_GLOBAL) };
    let library = match library {
        Ok(library) => library,
        Err(error) => {
            teller.tell(&Told::NotLoaded(error.to_string()));
            return 1;
        }
    };
    // SAFETY: C and C++ give `main` this type, with as many of its arguments as it takes.
    let main: Result<Symbol<Main>, _> = unsafe { library.get(b"main\0") };
    let Ok(main) = main.map(|main| *main) else {
        teller.tell(&Told::NotLoaded("main".to_owned()));
        return 1;
    };
    // What it registered to be called at the end is in it.
    std::mem::forget(library);
    teller.tell(&Told::Begun);
    let count = c_int::try_from(words.len()).unwrap_or(c_int::MAX);
    // SAFETY: the words and variables stay until the process ends, each list with a null after it.
    unsafe { main(count, pointers.as_ptr(), variables.as_ptr()) }
}

#[cfg(not(unix))]
fn call(flags: &Flags, teller: &Teller) -> i32 {
    teller.tell(&Told::NotLoaded(flags.compiled.display().to_string()));
    1
}
