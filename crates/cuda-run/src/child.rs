//! The program's own process: loads the compiled library and calls its `main`, or launches a plan.
//!
//! A program that takes more than five seconds on the simulator gets status lines: the running kernel, its completed blocks
//! and the estimated time left, or that no kernel is running. They are printed only if standard error is a terminal, at
//! growing intervals. A line that is redrawn would erase what the program prints.

use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::ffi::{CStr, c_void};
#[cfg(unix)]
use std::ffi::{c_char, c_int};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{process, thread};

use clap::Parser;
use common::error::{describe, note};
use cuda_driver::names::short;
use cuda_driver::{Checks, Progress};
use telemetry::failures::Judgement;
use telemetry::wire::{Event, EventWriter};
use telemetry::{exit, name_calls};

#[cfg(unix)]
use crate::nvtx;
use crate::plan::{self, PlanFile};

/// The first argument of this process.
pub const SUBCOMMAND: &str = "run-compiled";

/// The internal command line of this process, written by the parent.
#[derive(Debug, Parser)]
struct Flags {
    /// The program's library, or the PTX if a launch plan is executed.
    #[arg(long)]
    compiled: PathBuf,
    /// The file with the launch plan.
    #[arg(long)]
    plan: Option<PathBuf>,
    #[arg(long)]
    set: Vec<String>,
    #[arg(long)]
    events: PathBuf,
    #[arg(long)]
    name: OsString,
    #[arg(long)]
    counts: bool,
    /// Measure the kernels' execution times.
    #[arg(long)]
    measure: bool,
    #[arg(long)]
    check: Option<Checks>,
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// The events of this process.
static WRITER: OnceLock<EventWriter> = OnceLock::new();

/// Runs the program and exits with its status.
pub fn main(args: &[OsString]) -> ! {
    let flags = Flags::parse_from(&args[1..]);
    let writer = EventWriter::open(&flags.events, Judgement::Strict).unwrap_or_else(|error| {
        note(format_args!("error: {error:#}"));
        process::exit(1);
    });
    cuda_driver::interrupt_launches_on_ctrl_c();
    cuda_driver::use_hardware_faults();
    cuda_driver::profile(flags.counts);
    if let Some(checks) = flags.check {
        cuda_driver::check(checks);
        cuda_driver::defer_findings();
        name_calls();
    }
    let writer: &'static EventWriter = WRITER.get_or_init(|| writer);
    exit::at_exit(|| {
        let Some(writer) = WRITER.get() else { return };
        #[cfg(unix)]
        if let Some(event) = nvtx::event() {
            writer.write(&event);
        }
        writer.finish();
    });
    cuda_driver::set_observer(Box::new(|event| {
        writer.write_simulator_event(&event);
    }));
    if std::env::var_os("CUDA_BACKEND").is_some_and(|backend| backend == "sim") {
        start();
    }
    if flags.measure {
        cuda_runtime::time_launches(Box::new(|launch| {
            writer.write(&Event::Measured(launch));
        }));
    }
    process::exit(match &flags.plan {
        Some(file) => run_plan(file, &flags, writer),
        None => call_main(&flags, writer),
    });
}

/// Executes a launch plan.
fn run_plan(file: &Path, flags: &Flags, writer: &EventWriter) -> i32 {
    let plan_file = PlanFile::open(file, &flags.set);
    let is_correct = plan_file.and_then(|plan_file| plan::run(&plan_file, &flags.compiled, writer));
    match is_correct {
        Ok(is_correct) => i32::from(!is_correct),
        Err(error) => {
            note(format_args!("error: {}", describe(&error)));
            1
        }
    }
}

#[cfg(unix)]
fn call_main(flags: &Flags, writer: &EventWriter) -> i32 {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;

    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};

    // The program looks these functions up by name, so the linker must keep them.
    cuda_runtime::force_link();
    cuda_libraries::force_link();
    let args = [&flags.name].into_iter().chain(&flags.arguments);
    // Command line arguments contain no NUL bytes.
    let args: Vec<CString> = args
        .flat_map(|word| CString::new(word.as_bytes()))
        .collect();
    let mut pointers: Vec<*const c_char> = args.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let environment: Vec<CString> = std::env::vars_os()
        .flat_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect();
    let mut variables: Vec<*const c_char> = environment
        .iter()
        .map(|variable| variable.as_ptr())
        .collect();
    variables.push(std::ptr::null());
    // SAFETY: no other thread is running, and SIG_DFL is the disposition that a C program starts with; Rust's
    // runtime has changed it to SIG_IGN.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // SAFETY: the library's static constructors are the user's program, which is meant to run here.
    let library = unsafe { Library::open(Some(&flags.compiled), RTLD_NOW | RTLD_GLOBAL) };
    let library = match library {
        Ok(library) => library,
        Err(error) => {
            writer.write(&Event::NotLoaded(error.to_string()));
            return 1;
        }
    };
    // SAFETY: C and C++ compile `main` with this signature; excess arguments are ignored.
    let main: Result<Symbol<Main>, _> = unsafe { library.get(b"main\0") };
    let Ok(main) = main.map(|main| *main) else {
        writer.write(&Event::NotLoaded("main".to_owned()));
        return 1;
    };
    // Functions that the program registered with `atexit` are in the library, so it must stay loaded.
    std::mem::forget(library);
    writer.write(&Event::Started);
    let count = c_int::try_from(args.len()).unwrap_or(c_int::MAX);
    // SAFETY: both pointer lists are null-terminated and live until the process exits.
    unsafe { call_program(count, pointers.as_ptr(), variables.as_ptr(), main) }
}

/// The type of a program's `main`.
#[cfg(unix)]
type Main = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

/// Calls `main`.
///
/// The function has no unwind information, so for C++'s runtime library the stack ends here: an exception that the
/// program does not catch calls `std::terminate`, which prints it. A frame of Rust would catch it.
///
/// # Safety
///
/// The arguments are those of a C program.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
#[unsafe(naked)]
unsafe extern "C" fn call_program(
    count: c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    main: Main,
) -> c_int {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!("sub rsp, 8", "call rcx", "add rsp, 8", "ret");
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "blr x3",
        "ldp x29, x30, [sp], #16",
        "ret"
    );
}

/// Calls `main`. On these processors, an exception that the program does not catch is reported as Rust's runtime does.
///
/// # Safety
///
/// The arguments are those of a C program.
#[cfg(all(unix, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
unsafe fn call_program(
    count: c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    main: Main,
) -> c_int {
    // SAFETY: the arguments are those of a C program.
    unsafe { main(count, arguments, environment) }
}

/// Replaces `dlopen` in the program (linked with `--wrap=dlopen`): a program that loads `libcuda.so` itself gets the driver
/// functions of this process, and NVIDIA's NVTX gets its functions for tools.
///
/// # Safety
///
/// As for `dlopen`.
#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller passes a string or a null pointer.
    let is_this_process = !name.is_null()
        && unsafe { CStr::from_ptr(name) }
            .to_bytes()
            .rsplit(|byte| *byte == b'/')
            .next()
            .is_some_and(|file| file.starts_with(b"libcuda.so") || file == nvtx::TOOL.as_bytes());
    let name = if is_this_process {
        std::ptr::null()
    } else {
        name
    };
    // SAFETY: these are the caller's arguments, or the name of this process.
    unsafe { libc::dlopen(name, flags) }
}

#[cfg(not(unix))]
fn call_main(flags: &Flags, writer: &EventWriter) -> i32 {
    writer.write(&Event::NotLoaded(flags.compiled.display().to_string()));
    1
}

/// The run time at which the first line is printed. The next line follows after the same time again, and so on.
const FIRST: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The duration of a launch from which on its blocks are shown. Programs with many shorter launches are better described
/// by the number of launches.
const MIN_LAUNCH: Duration = Duration::from_secs(1);

/// Prints the lines from a thread of its own.
pub fn start() {
    if !io::stderr().is_terminal() {
        return;
    }
    // Without a thread there are no lines, which is no error.
    let _ = thread::Builder::new().spawn(|| {
        let start = Instant::now();
        let (mut status, mut next) = (Status::new(start), FIRST);
        loop {
            thread::sleep(POLL_INTERVAL);
            let text = status.text(cuda_driver::progress(), Instant::now());
            if start.elapsed() >= next {
                note(format_args!("warpbook: {text}"));
                next *= 2;
            }
        }
    });
}

/// The state of the program, from its progress at several times.
struct Status {
    /// The number of the running launch, the time at which it was first seen, and its blocks that were done then.
    launch: Option<(u64, Instant, u64)>,
    /// The time at which a kernel was last seen running, or the start of the program.
    last_kernel: Instant,
}

impl Status {
    fn new(now: Instant) -> Status {
        Status {
            launch: None,
            last_kernel: now,
        }
    }

    /// Returns the line's text.
    fn text(&mut self, progress: Option<Progress>, now: Instant) -> String {
        let Some(progress) = progress else {
            self.launch = None;
            let seconds = now.duration_since(self.last_kernel).as_secs();
            return format!("no kernel has been running for {}", duration(seconds));
        };
        self.last_kernel = now;
        let (number, done, blocks) = (progress.launch, progress.blocks_done, progress.blocks);
        let kernel = short(&progress.kernel);
        let (since, first) = match self.launch {
            Some((known, since, first)) if known == number => (since, first),
            _ => {
                self.launch = Some((number, now, done));
                (now, done)
            }
        };
        let elapsed = now.duration_since(since);
        if elapsed < MIN_LAUNCH {
            return format!("{kernel} is running (launch {number})");
        }
        let percent = done * 100 / blocks.max(1);
        let blocks_text = format!("{kernel}: {done} of {blocks} blocks done ({percent} %)");
        let completed = done.saturating_sub(first);
        if completed == 0 {
            return format!("{blocks_text}, running for {}", duration(elapsed.as_secs()));
        }
        let left = elapsed.as_secs_f64() * (blocks - done) as f64 / completed as f64;
        format!("{blocks_text}, about {} left", duration(left.ceil() as u64))
    }
}

fn duration(seconds: u64) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(launch: u64, blocks_done: u64) -> Option<Progress> {
        Some(Progress {
            launch,
            kernel: "fill".to_owned(),
            blocks_done,
            blocks: 4096,
        })
    }

    #[test]
    fn a_long_launch_shows_its_blocks_and_the_time_left() {
        let start = Instant::now();
        let mut status = Status::new(start);
        let mut text =
            |done, seconds| status.text(progress(3, done), start + Duration::from_secs(seconds));
        assert_eq!(text(1024, 5), "fill is running (launch 3)");
        assert_eq!(
            text(1024, 7),
            "fill: 1024 of 4096 blocks done (25 %), running for 2s"
        );
        // 1024 blocks in ten seconds, 2048 are left.
        assert_eq!(
            text(2048, 15),
            "fill: 2048 of 4096 blocks done (50 %), about 20s left"
        );
    }

    #[test]
    fn short_launches_are_counted() {
        let start = Instant::now();
        let mut status = Status::new(start);
        for launch in [7, 9_000, 18_000] {
            let now = start + Duration::from_millis(launch);
            let expected = format!("fill is running (launch {launch})");
            assert_eq!(status.text(progress(launch, 1), now), expected);
        }
    }

    #[test]
    fn host_code_is_timed_from_the_last_kernel() {
        let start = Instant::now();
        let mut status = Status::new(start);
        let mut text =
            |progress, seconds| status.text(progress, start + Duration::from_secs(seconds));
        assert_eq!(text(None, 6), "no kernel has been running for 6s");
        text(progress(1, 0), 60);
        assert_eq!(text(None, 132), "no kernel has been running for 1m 12s");
    }
}
