//! Helpers of the tests around [`Machine`]: they write kernels as text, and read reports and faults.

use std::fmt::{Debug, Display};

use bytemuck::Pod;
pub use cuda_sim::check::AddressedMemory;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::fault::FaultLocation;
use cuda_sim::exec::{Fault, FaultKind};
use cuda_sim::isa::AccessClass;
use cuda_sim::launch::{LaunchRecord, LaunchReport};
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::Global;
use cuda_sim::profile::{AccessCounts, Tally};
pub use sim_machine::{Launch, Machine, params};

/// Block sizes around a warp's, and larger ones.
pub const BLOCK_SIZES: [u32; 6] = [1, 31, 32, 33, 100, 256];

/// Returns the record of a launch that succeeded.
pub fn record(report: &LaunchReport) -> &LaunchRecord {
    report.result.as_ref().expect("the launch failed")
}

/// Returns the totals over all lines of a launch on a [`Machine::profiling`].
pub fn total(report: &LaunchReport) -> Tally {
    let profile = record(report).profile.as_ref();
    profile.expect("the launch has no profile").total
}

/// Returns the counts of loads from global memory, including read-only loads.
pub fn global_loads(tally: &Tally) -> AccessCounts {
    let mut loads = tally[AccessClass::GlobalLoad];
    loads.add(&tally[AccessClass::ReadOnlyLoad]);
    loads
}

/// Returns the error of loading a module that must not load, which must leave nothing allocated.
pub fn load_error(ptx: &str) -> LoadError {
    let mut global = Global::new(1 << 30);
    let error = match cuda_sim::lower::load(ptx, &DeviceSpec::h200(), &mut global) {
        Ok(_) => panic!("the module was loaded:\n{ptx}"),
        Err(error) => error,
    };
    assert_eq!(
        global.free_bytes(),
        1 << 30,
        "something stays allocated after: {error}"
    );
    error
}

/// Returns a module with one kernel, `k`, whose only parameter is the address of its output. `%out` holds the
/// address, `%t` the thread's index, and `%mine` the address of the thread's word.
pub fn kernel_of(body: &str) -> String {
    module_of("", body)
}

/// Returns a module like that of [`kernel_of`], with `before` at module scope before the kernel.
pub fn module_of(before: &str, body: &str) -> String {
    format!(
        ".version 7.0
.target sm_80
.address_size 64
{before}
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<16>;
    .reg .b16 %h<16>;
    .reg .b32 %r<32>;
    .reg .b32 %t;
    .reg .b64 %d<16>;
    .reg .b64 %out, %mine;
    ld.param.u64 %out, [p];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %mine, %t, 4, %out;
    {body}
    ret;
}}
"
    )
}

/// Returns the rows of a table: on each line, a text and what is expected of it, separated by `=>`.
pub fn cases(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = table.trim_matches([' ', '\n']).split('\n');
    let columns = rows.map(|row| row.split_once("=>").expect("a row has two columns"));
    columns.map(|(text, expected)| (text.trim(), expected.trim()))
}

/// Asserts that a module cannot be loaded, and that the message contains `expected`.
#[track_caller]
pub fn assert_load_error(ptx: &str, expected: &str) {
    let message = load_error(ptx).to_string();
    assert!(message.contains(expected), "{message}\n{ptx}");
}

/// Asserts that a module cannot be loaded because of `culprit`: the message names the culprit's line, and contains
/// `expected`.
#[track_caller]
pub fn assert_load_error_at(ptx: &str, culprit: &str, expected: &str) {
    let message = load_error(ptx).to_string();
    let line = line_of(ptx, culprit);
    assert!(
        message.starts_with(&format!("line {line}: ")),
        "{message}\n{ptx}"
    );
    assert!(message.contains(expected), "{message}\n{ptx}");
}

/// Returns the line of `text` that contains `mark`.
#[track_caller]
pub fn line_of(text: &str, mark: &str) -> u32 {
    let index = text.lines().position(|line| line.contains(mark));
    index.expect("no line has the mark") as u32 + 1
}

/// Asserts that each thread of the kernel of [`kernel_of`], run in one block, stores the word `expected` of its
/// index.
#[track_caller]
pub fn assert_words(ptx: &str, threads: u32, expected: impl Fn(u32) -> u32) {
    let actual = words(ptx, threads).unwrap_or_else(|fault| panic!("{fault}\n{ptx}"));
    let expected: Vec<u32> = (0..threads).map(expected).collect();
    assert_eq!(actual, expected, "{threads} threads of\n{ptx}");
}

/// Asserts that the memory at `address` has these values.
#[track_caller]
pub fn assert_memory<T: Pod + PartialEq + Debug>(
    machine: &Machine,
    address: u64,
    expected: &[T],
    context: impl Display,
) {
    assert_eq!(
        machine.read::<T>(address, expected.len()),
        expected,
        "{context}"
    );
}

/// Returns the totals of a kernel of [`kernel_of`], profiled in one block.
pub fn profiled(ptx: &str, threads: u32) -> Tally {
    let mut machine = Machine::profiling(ptx);
    let out = machine.out::<u32>(threads as usize);
    total(&machine.run("k", 1, threads, params![out]))
}

/// Runs the kernel of [`kernel_of`] in one block. Returns each thread's word of output.
pub fn words(ptx: &str, threads: u32) -> Result<Vec<u32>, Fault> {
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(threads as usize);
    machine.launch(&Launch::new("k", 1, threads, params![out]))?;
    Ok(machine.read(out, threads as usize))
}

/// Returns `count` pseudo-random words, always the same (PCG's multiplier, top bits).
pub fn noise(count: usize) -> Vec<u32> {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32
        })
        .collect()
}

/// Returns the location of a fault.
#[track_caller]
pub fn location(fault: &Fault) -> &FaultLocation {
    fault.location.as_ref().expect("no thread is named")
}

/// Returns the memory and address of an illegal access, and whether it is a write.
pub fn illegal(fault: &Fault) -> (AddressedMemory, u64, bool) {
    match fault.kind {
        FaultKind::IllegalAddress {
            memory,
            address,
            write,
            ..
        } => (memory, address, write),
        ref other => panic!("unexpected fault: {other:?}"),
    }
}
