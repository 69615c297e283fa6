//! The sanitizer's checks through unmodified cust: the output on stderr with `CUDA_SIM_CHECK`, and the
//! findings that a program receives. The environment is read once per process, so each case runs this test
//! program again as a child process, with [`child`] alone.

use std::process::Command;

use cuda_driver::{Checks, FindingKind, active_checks, take_findings};
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

/// `sum`: each thread adds its neighbour's word of shared memory to its word of `in`, without a barrier.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry sum(.param .u64 in)
{
    .reg .b32 %r<6>;
    .reg .b64 %d<6>;
    .shared .align 4 .b32 tile[64];
    ld.param.u64 %d1, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d1, %d1, %d2;
    mov.u64 %d3, tile;
    add.s64 %d4, %d3, %d2;
    st.shared.u32 [%d4], %r1;
    add.u32 %r2, %r1, 32;
    and.b32 %r2, %r2, 63;
    mul.wide.u32 %d2, %r2, 4;
    add.s64 %d5, %d3, %d2;
    ld.shared.u32 %r3, [%d5];
    ld.global.u32 %r4, [%d1];
    add.u32 %r4, %r4, %r3;
    st.global.u32 [%d1], %r4;
    ret;
}";

/// Launches [`PTX`] on uninitialized memory, `LAUNCHES` times, and leaks a buffer. All cases run this. Prints
/// the kinds of the findings.
#[test]
#[ignore = "run by the other tests in a separate process"]
fn child() {
    let context = cust::quick_init().unwrap();
    if let Ok(checks) = std::env::var("CHECK_INSIDE") {
        cuda_driver::check(checks.parse().unwrap());
    }
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let sum = module.get_function("sum").unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    // SAFETY: the access is intended to be detected: the guard resumes it after recording.
    let buffer = unsafe { DeviceBuffer::<u32>::uninitialized(64) }.unwrap();
    // SAFETY: the parameter matches the kernel's signature, and the buffer has one word per thread.
    unsafe { launch!(sum<<<1, 64, 0, stream>>>(buffer.as_device_ptr())) }.unwrap();
    let kinds: Vec<FindingKind> = take_findings().iter().map(|actual| actual.kind).collect();
    println!("found: {kinds:?}");
    println!("active_checks: {}", active_checks());
    match std::env::var("FORGET").as_deref() {
        Ok("buffer") => std::mem::forget(buffer),
        Ok("context") => {
            std::mem::forget(buffer);
            std::mem::forget(context);
        }
        _ => {}
    }
}

/// Runs [`child`] with these environment variables. Returns its stdout and stderr.
fn run(settings: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    command.env_remove("CUDA_SIM_CHECK");
    command.env("CUDA_BACKEND", "sim");
    let output = command.envs(settings.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    (stdout, stderr)
}

/// Returns the number of occurrences of `text` in stderr.
fn times(stderr: &str, text: &str) -> usize {
    stderr.matches(text).count()
}

#[test]
fn checks_are_off_by_default() {
    let (stdout, stderr) = run(&[("FORGET", "buffer")]);
    assert!(stdout.contains("found: []"), "{stdout}");
    assert_eq!(times(&stderr, "warpbook: "), 0, "{stderr}");
}

#[test]
fn environment_variable_enables_checks_and_prints_findings() {
    let (stdout, stderr) = run(&[("CUDA_SIM_CHECK", "all"), ("FORGET", "buffer")]);
    assert!(stdout.contains("UninitializedDevice"), "{stdout}");
    assert!(
        stdout.contains("active_checks: mem,init,race,sync,leak,host,stream"),
        "{stdout}"
    );
    for (text, count) in [
        ("warpbook: error: init: ", 1),
        ("warpbook: error: race: ", 2),
        ("warpbook: error: leak: ", 1),
        ("in kernel sum, block (0, 0, 0)", 3),
        ("the 256-byte allocation", 2),
    ] {
        assert_eq!(times(&stderr, text), count, "{text}: {stderr}");
    }
}

#[test]
fn memory_allocated_at_exit_is_a_leak() {
    for (forget, leaks) in [("context", 1), ("nothing", 0)] {
        let (_, stderr) = run(&[("CUDA_SIM_CHECK", "leak"), ("FORGET", forget)]);
        assert_eq!(times(&stderr, "warpbook: error: leak: "), leaks, "{stderr}");
        assert_eq!(times(&stderr, "warpbook: "), leaks, "{stderr}");
    }
}

#[test]
fn checks_enabled_by_the_program_print_nothing() {
    let (stdout, stderr) = run(&[("CHECK_INSIDE", "init")]);
    assert!(
        stdout.contains("found: [UninitializedDevice, UninitializedShared]"),
        "{stdout}"
    );
    assert!(stdout.contains("active_checks: init"), "{stdout}");
    assert_eq!(times(&stderr, "warpbook: "), 0, "{stderr}");
    assert_eq!(Checks::default(), Checks::NONE);
}
