//! Tests of the executor with every kernel compiled, and no block counted.

use cuda_sim::exec::LaunchOptions;
use cuda_sim::exec::compiled::CompileMode;
use cuda_sim::launch::LaunchRecord;
use cuda_sim::lower::{STAYS_INTERPRETED, of_registers};
use sim_machine::{Launch, Machine, params};
use std::collections::BTreeMap;

#[path = "exec/assembled.rs"]
mod assembled;
#[path = "exec/atomics.rs"]
mod atomics;
#[path = "exec/barriers.rs"]
mod barriers;
#[path = "exec/calls.rs"]
mod calls;
#[path = "exec/divergence.rs"]
mod divergence;
#[path = "exec/elements.rs"]
mod elements;
#[path = "exec/faults.rs"]
mod faults;
#[path = "exec/flow.rs"]
mod flow;
// Not all tests that use it are here.
#[allow(dead_code)]
#[path = "exec/harness.rs"]
mod harness;
#[path = "exec/memory.rs"]
mod memory;
#[path = "exec/random_flow.rs"]
mod random_flow;
#[path = "exec/special_registers.rs"]
mod special_registers;
#[path = "exec/state_spaces.rs"]
mod state_spaces;
#[path = "exec/syntax.rs"]
mod syntax;
#[path = "exec/video.rs"]
mod video;
#[path = "exec/warp.rs"]
mod warp;

/// A constructor that runs before the tests, because each test creates its own machine.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static START: extern "C" fn() = {
    extern "C" fn start() {
        sim_compiler::install();
        sim_machine::set_options(LaunchOptions {
            compile: CompileMode::Always,
            sampled: false,
            ..LaunchOptions::default()
        });
    }
    start
};

/// Checks that each register instruction has a compiled form or is listed as interpreted, and not both.
#[test]
fn register_instructions_are_compiled_or_listed() {
    let mut compiled: BTreeMap<&str, bool> = BTreeMap::new();
    for form in cuda_sim::lower::catalogue() {
        let (modifiers, lengths) = (&form.modifiers, &form.operand_lengths);
        let operation = of_registers(form.mnemonic, modifiers, lengths, [None; 2]);
        *compiled.entry(form.mnemonic).or_default() |= operation.is_some();
    }
    let interpreted = compiled.iter().filter(|(_, compiled)| !**compiled);
    let interpreted: Vec<&str> = interpreted.map(|(&name, _)| name).collect();
    assert_eq!(interpreted, STAYS_INTERPRETED);
}

/// Sums products in a loop, which makes the kernel worth compiling, and stores through a pointer of its own.
const LONG_KERNEL: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry long(.param .u64 in, .param .u64 out, .param .u32 n)
{
    .reg .pred %p<3>; .reg .f32 %f<5>; .reg .b32 %r<8>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [in];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    and.b32 %r6, %r5, 1023;
    mul.wide.u32 %d3, %r6, 4;
    add.s64 %d4, %d1, %d3;
    mov.f32 %f1, 0f3F800000;
    mov.u32 %r7, 0;
LOOP:
    ld.global.f32 %f2, [%d4];
    fma.rn.f32 %f1, %f1, 0f3F000000, %f2;
    mul.f32 %f3, %f2, %f1;
    sub.f32 %f1, %f1, %f3;
    add.s32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r1;
    @%p1 bra LOOP;
    mul.wide.u32 %d5, %r5, 4;
    add.s64 %d6, %d2, %d5;
    st.global.f32 [%d6], %f1;
    ret;
}";

/// The number of blocks of a launch of [`LONG_KERNEL`], and the number of threads per block.
const LONG_LAUNCH: (u32, u32) = (600, 128);

/// Launches [`LONG_KERNEL`] until `stop` returns true for the machine, at most 200 times, which takes seconds. Returns the
/// output and the record of each launch.
fn run_long(
    options: LaunchOptions,
    stop: impl Fn(&Machine) -> bool,
) -> (Vec<Vec<u32>>, Vec<LaunchRecord>) {
    let mut machine = Machine::new(LONG_KERNEL);
    machine.options = options;
    let (blocks, threads) = LONG_LAUNCH;
    let values: Vec<f32> = (0..1024).map(|n| (n % 37) as f32 / 40.0).collect();
    let input = machine.buffer(&values);
    let output = machine.out::<u32>((blocks * threads) as usize);
    let (mut outputs, mut records) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        let launch = Launch::new("long", blocks, threads, params![input, output, 64u32]);
        let report = machine.report(&launch);
        records.push(report.result.expect("the launch succeeds"));
        outputs.push(machine.read(output, (blocks * threads) as usize));
        if stop(&machine) {
            break;
        }
    }
    (outputs, records)
}

fn is_compiled(machine: &Machine) -> bool {
    let compilation = machine.program.compilation(0, [LONG_LAUNCH.1, 1, 1]);
    compilation.is_some_and(|compilation| compilation.is_compiled())
}

/// Checks that a kernel is compiled while it runs, and that the change of code does not change its results.
#[test]
fn long_kernels_are_compiled_while_they_run() {
    let options = |compile| LaunchOptions {
        compile,
        ..LaunchOptions::default()
    };
    let interpreted = run_long(options(CompileMode::Never), |machine| {
        assert!(!is_compiled(machine));
        true
    });
    let (outputs, records) = run_long(options(CompileMode::Auto), is_compiled);
    assert!(outputs.len() < 200, "the kernel has not been compiled");
    let (after, after_records) = run_long(options(CompileMode::Always), is_compiled);
    for output in outputs.iter().chain(&after) {
        assert!(output == &interpreted.0[0]);
    }
    for record in records.iter().chain(&after_records) {
        assert_eq!(record, &interpreted.1[0]);
    }
}

/// Returns a kernel with a pointer to the output and one to 64 words of input as parameters, `%d1` and `%d2`. `%r1` is the
/// thread's number.
fn kernel(body: &str) -> String {
    format!(
        ".version 6.4\n.target sm_52\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 in) {{\n\
         .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %d<16>;\n\
         ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; mov.u32 %r1, %tid.x;\n{body}\nret; }}"
    )
}

/// Returns the words that a kernel of 64 threads writes, or the message of its fault.
fn words(body: &str, compile: CompileMode) -> Result<Vec<u64>, String> {
    let mut machine = Machine::new(&kernel(body));
    machine.options.compile = compile;
    let input = machine.buffer(&(0..64u64).map(|n| n * n).collect::<Vec<_>>());
    let output = machine.out::<u64>(64);
    let launch = Launch::new("k", 1, 64, params![output, input]);
    match machine.launch(&launch) {
        Ok(_) => Ok(machine.read(output, 64)),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Checks that compiled code does what the interpreter does where it must leave a region or not enter one.
#[test]
fn assumptions_of_compiled_code_are_checked() {
    const STORE: &str =
        "mul.wide.u32 %d8, %r1, 8; add.s64 %d9, %d1, %d8; st.global.u64 [%d9], %d7;";
    let bodies = [
        // An index that wraps around within a warp, extended to 64 bits in an earlier region.
        "add.s32 %r2, %r1, -5; cvt.u64.u32 %d3, %r2; bar.sync 0; add.s64 %d4, %d3, 1; xor.b64 %d7, %d4, %d2;
         sub.s64 %d7, %d7, %d2; add.s64 %d7, %d7, %d4;",
        // The same, with a sum in which the steps cancel.
        "add.s32 %r2, %r1, -5; mul.wide.u32 %d3, %r1, -4; mad.wide.u32 %d4, %r2, 4, %d3; bar.sync 0;
         add.s64 %d7, %d4, 1; xor.b64 %d7, %d7, 77; add.s64 %d7, %d7, 9;",
        // A register that lanes set in different iterations.
        "setp.lt.u32 %p1, %r1, 16; mov.u32 %r2, 0; mov.u32 %r3, 5;
         LOOP: setp.eq.u32 %p2, %r2, 0; xor.pred %p3, %p1, %p2; @%p3 bra SKIP; mul.lo.u32 %r3, %r2, 7;
         SKIP: add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 2; @%p4 bra LOOP;
         bar.sync 0; add.u32 %r4, %r3, 1; xor.b32 %r4, %r4, 3; cvt.u64.u32 %d7, %r4;",
        "setp.lt.u32 %p1, %r1, 16; mov.u32 %r2, 0;
         LOOP: setp.eq.u32 %p2, %r2, 0; xor.pred %p3, %p1, %p2; @%p3 bra SKIP; mul.lo.u32 %r3, %r2, 7;
         SKIP: add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 2; @%p4 bra LOOP;
         bar.sync 0; add.u32 %r4, %r3, 1; xor.b32 %r4, %r4, 3; cvt.u64.u32 %d7, %r4;",
        // Loads of different sizes in one allocation: the second one is inside, then past its end.
        "cvt.u64.u32 %d3, %r1; add.s64 %d4, %d2, %d3; ld.global.u8 %r2, [%d4]; ld.global.u64 %d5, [%d2+504];
         cvt.u64.u32 %d6, %r2; add.s64 %d7, %d5, %d6;",
        "cvt.u64.u32 %d3, %r1; add.s64 %d4, %d2, %d3; ld.global.u8 %r2, [%d4]; ld.global.u64 %d5, [%d2+1024];
         cvt.u64.u32 %d6, %r2; add.s64 %d7, %d5, %d6;",
        // Two stores of different lanes to one word: the last one wins.
        "cvt.u64.u32 %d7, %r1; and.b32 %r5, %r1, 31; mul.wide.u32 %d3, %r5, 8; add.s64 %d4, %d1, %d3;
         mov.u64 %d5, 500; mov.u64 %d6, 600; st.global.u64 [%d4], %d5; st.global.u64 [%d4+8], %d6; bar.sync 0;
         add.s64 %d7, %d7, 1; setp.lt.u32 %p1, %r1, 40; @%p1 mov.u64 %d7, 3;",
    ];
    for body in bodies {
        let body = format!("{body}\n{STORE}");
        let expected = words(&body, CompileMode::Never);
        assert_eq!(words(&body, CompileMode::Always), expected, "{body}");
    }
}
