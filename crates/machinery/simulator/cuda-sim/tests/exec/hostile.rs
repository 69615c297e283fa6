//! Hostile modules: the time and memory that they cost to load must be bounded by the length of their text. The
//! texts are so long that a test would not finish if the work grew with the square of the length.

use crate::harness::*;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{FaultKind, TimeLimit};
use cuda_sim::memory::global::Global;
use std::time::Duration;

/// The number of repetitions of a construct.
const COUNT: usize = 30_000;
/// More registers than a warp can have at once.
const TOO_MANY_REGISTERS: usize = 100_000;

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// Returns `line` for each number below `count`, with `#` replaced by the number and `~` by the previous one.
fn repeated_lines(count: usize, line: &str) -> String {
    (0..count)
        .map(|n| {
            line.replace('#', &n.to_string())
                .replace('~', &n.saturating_sub(1).to_string())
                + "\n"
        })
        .collect()
}

/// Returns a kernel that declares very many registers.
fn kernel(body: &str) -> String {
    kernel_of(&format!(
        "{{ .reg .b32 %n<{TOO_MANY_REGISTERS}>; .reg .b64 %m<{COUNT}>;\n{body} }}"
    ))
}

/// Asserts that the module loads.
fn assert_loads(ptx: &str) {
    let mut global = Global::new(1 << 30);
    if let Err(error) = cuda_sim::lower::load(ptx, &DeviceSpec::h200(), &mut global) {
        panic!("cannot load the module: {error}");
    }
}

#[track_caller]
fn assert_rejected(ptx: &str, expected: &str) {
    let error = load_error(ptx).to_string();
    assert!(error.contains(expected), "{error}");
    assert!(error.len() < 1000, "{} bytes of message", error.len());
}

#[test]
fn long_functions_load() {
    for line in [
        "add.u32 %r1, %r1, %r2;",
        "mov.u32 %n#, %n~;",
        "mov.u32 %n#, %r2; @%p1 add.u32 %r1, %r1, 1;",
        "add.s64 %m#, %out, 4; ld.global.u32 %n#, [%m#];",
        "add.s64 %m#, %out, 4; ld.global.u32 %r1, [%m#]; st.global.u32 [%out], %r1;",
        "{ .reg .b32 %x<3>; mov.u32 %x1, %r2; mov.u32 %x2, %x1; }",
        // Labels without references, as debug information has them.
        "L#:",
        "cp.async.ca.shared.global [%r1], [%out], 4; cp.async.wait_all;",
    ] {
        assert_loads(&kernel(&repeated_lines(COUNT, line)));
    }
}

#[test]
fn too_many_live_values_are_rejected() {
    let all_additions = repeated_lines(TOO_MANY_REGISTERS, "add.u32 %r1, %r1, #;");
    assert_rejected(&kernel(&all_additions), "bytes per warp");
    let all_uses = repeated_lines(TOO_MANY_REGISTERS, "mov.u32 %n#, %r1;")
        + &repeated_lines(TOO_MANY_REGISTERS, "st.global.u32 [%out], %n#;");
    assert_rejected(&kernel(&all_uses), "bytes per warp");
}

#[test]
fn too_many_basic_blocks_are_rejected() {
    let branches = "@%p1 bra L#; add.u32 %r1, %r1, 1; L#:";
    // Each line makes two blocks.
    assert_loads(&kernel(&repeated_lines(16_000, branches)));
    assert_rejected(&kernel(&repeated_lines(COUNT, branches)), "basic blocks");
    let forward_exits = repeated_lines(16_000, "setp.eq.u32 %p1, %t, 3; @%p1 bra E;") + "E:";
    assert_loads(&kernel(&forward_exits));
    let backwards = repeated_lines(10_000, "L#: bra L~;").replace("L0: bra L0;", "L0: ret;");
    assert_loads(&kernel(&format!("bra L9999;\n{backwards}")));
    // Branches from each block of one half to two distant places in the other half.
    let fallthrough = repeated_lines(10_000, "L#: add.u32 %r1, %r1, 1; @%p1 bra M;");
    let entries = repeated_lines(5_000, "@%p1 bra L#; bra L9999;");
    assert_loads(&kernel(&format!("{entries}{fallthrough}M:")));
}

#[test]
fn too_many_values_live_across_blocks_are_rejected() {
    let (count, branch) = (16_000, "@%p1 bra L#; L#:");
    let definitions = repeated_lines(count, &format!("mov.u32 %n#, %t; {branch}"));
    let uses = repeated_lines(count, "st.global.u32 [%out], %n#;");
    assert_rejected(&kernel(&(definitions + &uses)), "live across them");
}

#[test]
fn too_many_branch_targets_are_rejected() {
    let count = 5_000;
    let names: Vec<String> = (0..count).map(|n| format!("L{n}")).collect();
    let table = format!("T: .branchtargets {};", names.join(", "));
    let labels = repeated_lines(count, "L#:");
    assert_loads(&kernel(&format!("{table} brx.idx %r1, T;\n{labels}")));
    let branches = repeated_lines(count, "brx.idx %r1, T;");
    assert_rejected(
        &kernel(&format!("{table}{branches}{labels}")),
        "targets in all",
    );
}

/// A loop with two entries, and before it a load on one side of a branch.
#[test]
fn loop_with_two_entries_loads() {
    assert_loads(&kernel_of(
        "setp.eq.u32 %p1, %t, 3;
        @%p1 bra IN;
        @%p1 bra X;
        ld.global.u32 %r2, [%out];
        X: bra A;
        A: add.u32 %r1, %r1, 1;
        bra B;
        IN: add.u32 %r3, %r3, 1;
        B: add.u32 %r3, %r3, 1;
        bra A;",
    ));
}

#[test]
fn many_functions_load_within_limits() {
    let kernels = repeated_lines(COUNT, ".entry k#() { ret; }");
    assert_loads(&format!("{HEAD}{kernels}"));
    // Each function calls the previous one: too deep for a recursive loader.
    let chain = repeated_lines(COUNT, ".func f#() { call f~; ret; }");
    let last = COUNT - 1;
    let terminated = chain.replace("f0() { call f0;", "f0() {");
    let cyclic = chain.replace("f0() { call f0;", &format!("f0() {{ call f{last};"));
    for functions in [&terminated, &cyclic, &chain] {
        let ptx = format!("{HEAD}{functions}.entry k() {{ call f{last}; ret; }}");
        assert_loads(&ptx);
    }
    let callers = repeated_lines(COUNT, &format!(".entry k#() {{ call f{last}; ret; }}"));
    let ptx = format!("{HEAD}{terminated}{callers}");
    assert_rejected(&ptx, "split it into several modules");
}

#[test]
fn many_variables_load_within_limits() {
    let variables = repeated_lines(20_000, ".global .b32 g#;");
    assert_loads(&format!("{HEAD}{variables}"));
    let (size, ones) = (COUNT + 1, "1, ".repeat(COUNT));
    assert_loads(&format!("{HEAD}.global .u8 x[{size}] = {{ {ones}1 }};"));
    let shared = repeated_lines(2_000, ".shared .b8 s#;");
    let uses = repeated_lines(2_000, "mov.u32 %r1, s#;");
    assert_loads(&module_of(&shared, &uses));
    let shared = repeated_lines(20_000, ".shared .b8 s#;");
    let uses = repeated_lines(20_000, "mov.u32 %r1, s#;");
    assert_rejected(&module_of(&shared, &uses), "shared variables");
    // Many kernels that reach many variables through one function.
    let function = format!(".func f() {{ .reg .b32 %r<3>; {uses} ret; }}");
    let kernels = repeated_lines(20_000, ".entry k#() { call f; ret; }");
    let ptx = format!("{HEAD}{shared}{function}{kernels}");
    assert_rejected(&ptx, "split it into several modules");
}

#[test]
fn oversized_declarations_are_rejected() {
    let max_bytes = (1u64 << 48) - 1;
    let spaces = [
        ("global", "out of memory"),
        ("const", "constant memory"),
        ("shared", "shared memory"),
    ];
    for (space, expected_space) in spaces {
        // The sum of all sizes wraps around to zero in 64 bits.
        let declared = repeated_lines(70_000, &format!(".{space} .align 8 .b8 x#[{max_bytes}];"));
        let uses = repeated_lines(2_000, "mov.u64 %d1, x#;");
        assert_rejected(&module_of(&declared, &uses), expected_space);
        let product = "4294967296][4294967296";
        for size in ["1099511627776", "18446744073709551615", product] {
            let declaration = format!(".{space} .b8 x[{size}];");
            let error = load_error(&module_of(&declaration, "mov.u64 %d1, x;")).to_string();
            let is_too_large = error.contains("larger than any memory");
            assert!(is_too_large || error.contains(expected_space), "{error}");
        }
    }
    for body in [
        ".local .b8 x[1099511627776];",
        ".param .b8 x[4294967297];",
        ".local .align 2147483648 .b8 x[4]; .local .align 2147483648 .b8 y[4];",
    ] {
        assert_rejected(&kernel_of(body), "local memory");
    }
    let params = |declared: String| format!("{HEAD}.entry k({declared}) {{ ret; }}");
    let many = (0..70_000).map(|n| format!(".param .b8 p{n}[{max_bytes}]"));
    let many: Vec<String> = many.collect();
    let aligned = ".param .align 2147483648 .b8";
    for declared in [
        many.join(", "),
        ".param .b8 p[4294967300]".to_owned(),
        format!("{aligned} p[4], {aligned} q[4], {aligned} r[4]"),
    ] {
        assert_rejected(&params(declared), "bytes of parameters");
    }
    // Truncated to 32 bits, these sizes would fit.
    let function = ".func f(.param .b8 x[4294967300]) { ret; }";
    assert_rejected(&module_of(function, ""), "local memory");
    let function = format!(".func f({aligned} x[4], {aligned} y[4], {aligned} z[4]) {{ ret; }}");
    assert_rejected(&module_of(&function, ""), "local memory");
    let prototype = "P: .callprototype _ (.param .b8 _[4294967300]);";
    assert_rejected(&kernel_of(prototype), "local memory");
}

#[test]
fn huge_counts_load() {
    for count in ["2147483648", "4294967295"] {
        let high_register = format!(".reg .b32 %q<{count}>; mov.u32 %q{}, %q1;", 2147483647);
        assert_loads(&kernel_of(&high_register));
    }
    for bounds in [
        ".maxntid 4294967295, 4294967295, 4294967295",
        ".reqntid 4294967295, 4294967295, 4294967295",
        ".maxntid 0",
        ".maxnreg 4294967295 .minnctapersm 4294967295",
    ] {
        assert_loads(&format!("{HEAD}.entry k() {bounds} {{ ret; }}"));
    }
}

#[test]
fn long_names_give_short_messages() {
    let name = "a".repeat(1 << 20);
    let operand = kernel_of(&format!("mov.u32 %r1, {name};"));
    let kernels = format!("{HEAD}.entry {name} {{ ret; }} .entry {name} {{ ret; }}");
    for ptx in [operand, kernels] {
        assert_rejected(&ptx, "longer than 65536");
    }
}

/// The registers of active calls take memory too: a function with a large array makes the stack so large that
/// many calls fit.
#[test]
fn recursion_with_many_registers_overflows() {
    let definitions = repeated_lines(250, "mov.u32 %q#, %clock;");
    let uses = repeated_lines(250, "st.volatile.global.u32 [0], %q#;");
    let functions = format!(
        ".func large() {{ .local .b8 x[500000]; ret; }}
        .func f() {{ .reg .b32 %q<250>; {definitions} call f; {uses} ret; }}"
    );
    let body = "setp.eq.u32 %p1, %t, 9999; @%p1 call large; call f;";
    let mut machine = Machine::new(&module_of(&functions, body));
    let out = machine.out::<u32>(1);
    machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_secs(60)));
    let fault = machine.fault("k", 1, 256, params![out]);
    let is_too_deep = matches!(fault.kind, FaultKind::CallsTooDeep { .. });
    assert!(is_too_deep, "{fault}");
    assert!(fault.to_string().starts_with("stack overflow"), "{fault}");
}

/// The name of a construct, and a function that generates a text that repeats it very often.
type Shape = (&'static str, fn() -> String);

/// The number of repetitions in a shape. Larger than [`COUNT`]: shapes are only measured.
const SHAPE_COUNT: usize = 100_000;

const SHAPES: [Shape; 9] = [
    ("a kernel of 1 000 000 instructions", || {
        kernel(&repeated_lines(10 * SHAPE_COUNT, "add.u32 %r1, %r1, %r2;"))
    }),
    ("100 000 labels without a branch to them", || {
        kernel(&repeated_lines(SHAPE_COUNT, "L#:"))
    }),
    ("16 000 branches, and a loop around them", || {
        let branches = repeated_lines(16_000, "@%p1 bra L#; add.u32 %r1, %r1, 1; L#:");
        kernel(&format!("A: {branches} @%p2 bra A;"))
    }),
    ("100 000 kernels", || {
        format!(
            "{HEAD}{}",
            repeated_lines(SHAPE_COUNT, ".entry k#() { ret; }")
        )
    }),
    ("100 000 functions, each calling the previous one", || {
        let chain = repeated_lines(SHAPE_COUNT, ".func f#() { call f~; ret; }");
        let last = SHAPE_COUNT - 1;
        format!("{HEAD}{chain}.entry k() {{ call f{last}; ret; }}")
    }),
    ("100 000 global variables", || {
        format!("{HEAD}{}", repeated_lines(SHAPE_COUNT, ".global .b32 g#;"))
    }),
    ("an array of 1 000 000 initial values", || {
        format!(
            "{HEAD}.global .u8 x[] = {{ {}1 }};",
            "1, ".repeat(10 * SHAPE_COUNT)
        )
    }),
    ("a name of 10 MB", || {
        kernel(&format!("mov.u32 %r1, {};", "a".repeat(10_000_000)))
    }),
    ("10 MB of opening braces", || {
        kernel(&"{".repeat(10_000_000))
    }),
];

/// Loads one of the shapes and prints its cost. [`costs`] runs this test in a process per shape.
#[test]
#[ignore = "run by hostile::costs in a process of its own"]
fn cost_of_shape() {
    let shape = std::env::var("SHAPE").expect("SHAPE is not set");
    let found = SHAPES.iter().find(|(name, _)| *name == shape);
    let (name, text) = found.expect("no such shape");
    let text = text();
    let before = memory("VmRSS:");
    let mut global = Global::new(1 << 30);
    let program = cuda_sim::lower::load(&text, &DeviceSpec::h200(), &mut global);
    let megabytes = text.len() as f64 / 1e6;
    let used = (memory("VmHWM:") - before) as f64 / 1e6;
    let outcome = program.map_or("is rejected", |_| "loads");
    let ratio = used / megabytes;
    println!("\n| {name} | {outcome} | {megabytes:.1} | {used:.0} | {ratio:.0} |");
}

/// Returns the process's memory in bytes: the current value (`VmRSS:`) or the peak (`VmHWM:`).
fn memory(field: &str) -> u64 {
    let status =
        std::fs::read_to_string("/proc/self/status").expect("cannot read /proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("unexpected format") * 1024
}

/// Prints the table of `docs/results/robustness.md`: megabytes of text, of memory, and their ratio.
#[test]
#[ignore = "measures: cargo test -p sim-tests --test exec -- --ignored --exact --nocapture hostile::costs"]
fn costs() {
    let program = std::env::current_exe().expect("cannot find the test program");
    for (name, _) in SHAPES {
        let child = std::process::Command::new(&program)
            .args([
                "--ignored",
                "--exact",
                "hostile::cost_of_shape",
                "--nocapture",
            ])
            .env("SHAPE", name)
            .output()
            .expect("cannot run the test program");
        let text = String::from_utf8_lossy(&child.stdout);
        let row = text.lines().find(|line| line.starts_with("| "));
        println!("{}", row.expect("the child printed no row"));
    }
}
