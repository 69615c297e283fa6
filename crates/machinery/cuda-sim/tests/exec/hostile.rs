//! Hostile modules, whose cost must be bounded by the length of their text. Work that grows with the square of
//! the length would take so long here that a test would not end.

use crate::harness::{Machine, kernel_of, load_error, module_of};
use crate::params;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::FaultKind;
use cuda_sim::memory::global::Global;
use std::time::Duration;

/// The number of repetitions of a construct.
const MANY: usize = 30_000;
/// More registers than a warp can have at once.
const MOST: usize = 100_000;

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// Returns `line` for each number below `count`, with `#` replaced by the number and `~` by the previous one.
fn lines(count: usize, line: &str) -> String {
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
        "{{ .reg .b32 %n<{MOST}>; .reg .b64 %m<{MANY}>;\n{body} }}"
    ))
}

/// Asserts that the module loads.
fn loads(ptx: &str) {
    let mut global = Global::new(1 << 30);
    if let Err(error) = cuda_sim::lower::load(ptx, &DeviceSpec::h200(), &mut global) {
        panic!("does not load: {error}");
    }
}

#[track_caller]
fn refused(ptx: &str, wanted: &str) {
    let error = load_error(ptx).to_string();
    assert!(error.contains(wanted), "{error}");
    assert!(error.len() < 1000, "{} bytes of message", error.len());
}

#[test]
fn long_functions_load() {
    loads(&kernel(&lines(MANY, "add.u32 %r1, %r1, %r2;")));
    loads(&kernel(&lines(MANY, "mov.u32 %n#, %n~;")));
    loads(&kernel(&lines(
        MANY,
        "mov.u32 %n#, %r2; @%p1 add.u32 %r1, %r1, 1;",
    )));
    loads(&kernel(&lines(
        MANY,
        "add.s64 %m#, %out, 4; ld.global.u32 %n#, [%m#];",
    )));
    loads(&kernel(&lines(
        MANY,
        "add.s64 %m#, %out, 4; ld.global.u32 %r1, [%m#]; st.global.u32 [%out], %r1;",
    )));
    loads(&kernel(&lines(
        MANY,
        "{ .reg .b32 %x<3>; mov.u32 %x1, %r2; mov.u32 %x2, %x1; }",
    )));
    // Labels without references, as debug information has them.
    loads(&kernel(&lines(MANY, "L#:")));
    let copy = "cp.async.ca.shared.global [%r1], [%out], 4; cp.async.wait_all;";
    loads(&kernel(&lines(MANY, copy)));
}

#[test]
fn more_values_at_once_than_a_frame_holds() {
    refused(
        &kernel(&lines(MOST, "add.u32 %r1, %r1, #;")),
        "bytes a warp",
    );
    let all = lines(MOST, "mov.u32 %n#, %r1;") + &lines(MOST, "st.global.u32 [%out], %n#;");
    refused(&kernel(&all), "bytes a warp");
}

#[test]
fn many_basic_blocks() {
    let branches = "@%p1 bra L#; add.u32 %r1, %r1, 1; L#:";
    // Each line makes two blocks.
    loads(&kernel(&lines(16_000, branches)));
    refused(&kernel(&lines(MANY, branches)), "basic blocks");
    let to_the_end = lines(16_000, "setp.eq.u32 %p1, %t, 3; @%p1 bra E;") + "E:";
    loads(&kernel(&to_the_end));
    let backwards = format!(
        "bra L9999;\nL0: ret;\n{}",
        lines(10_000, "L#: bra L~;").replace("L0: bra L0;", "")
    );
    loads(&kernel(&backwards));
    // Branches from each block of one half to two distant places in the other half.
    let fall = lines(10_000, "L#: add.u32 %r1, %r1, 1; @%p1 bra M;");
    let enter = lines(5_000, "@%p1 bra L#; bra L9999;");
    loads(&kernel(&format!("{enter}{fall}M:")));
}

#[test]
fn many_registers_alive_across_many_blocks() {
    let (count, half) = (16_000, "@%p1 bra L#; L#:");
    let set = lines(count, &format!("mov.u32 %n#, %t; {half}"));
    let used = lines(count, "st.global.u32 [%out], %n#;");
    refused(&kernel(&(set + &used)), "live across them");
}

#[test]
fn one_table_for_many_branches() {
    let count = 5_000;
    let names: Vec<String> = (0..count).map(|n| format!("L{n}")).collect();
    let table = format!("T: .branchtargets {};", names.join(", "));
    let one = format!("{table} brx.idx %r1, T;\n{}", lines(count, "L#:"));
    loads(&kernel(&one));
    let body = format!(
        "{table}{}{}",
        lines(count, "brx.idx %r1, T;"),
        lines(count, "L#:")
    );
    refused(&kernel(&body), "targets in all");
}

/// A loop with two entries, and before it a load on one side of a branch.
#[test]
fn a_loop_that_is_entered_at_two_places() {
    loads(&kernel_of(
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
fn many_functions() {
    loads(&format!("{HEAD}{}", lines(MANY, ".entry k#() { ret; }")));
    // Each function calls the previous one: too deep for a recursive loader.
    let chain = lines(MANY, ".func f#() { call f~; ret; }");
    let last = MANY - 1;
    let ends = chain.replace("f0() { call f0;", "f0() {");
    let circle = chain.replace("f0() { call f0;", &format!("f0() {{ call f{last};"));
    for functions in [&ends, &circle, &chain] {
        loads(&format!(
            "{HEAD}{functions}.entry k() {{ call f{last}; ret; }}"
        ));
    }
    let all = lines(MANY, &format!(".entry k#() {{ call f{}; ret; }}", MANY - 1));
    refused(&format!("{HEAD}{ends}{all}"), "make several modules");
}

#[test]
fn many_variables() {
    loads(&format!("{HEAD}{}", lines(20_000, ".global .b32 g#;")));
    let values = format!(
        "{HEAD}.global .u8 x[{}] = {{ {}1 }};",
        MANY + 1,
        "1, ".repeat(MANY)
    );
    loads(&values);
    let shared = lines(2_000, ".shared .b8 s#;");
    let used = lines(2_000, "mov.u32 %r1, s#;");
    loads(&module_of(&shared, &used));
    let shared = lines(20_000, ".shared .b8 s#;");
    let used = lines(20_000, "mov.u32 %r1, s#;");
    refused(&module_of(&shared, &used), "shared variables");
    // Many kernels that reach many variables through one function.
    let function = format!(".func f() {{ .reg .b32 %r<3>; {used} ret; }}");
    let kernels = lines(20_000, ".entry k#() { call f; ret; }");
    refused(
        &format!("{HEAD}{shared}{function}{kernels}"),
        "make several modules",
    );
}

#[test]
fn declarations_larger_than_any_memory() {
    let most = (1u64 << 48) - 1;
    let spaces = [
        ("global", "out of memory"),
        ("const", "constant memory"),
        ("shared", "shared memory"),
    ];
    for (space, said) in spaces {
        // The sum of all sizes wraps around to zero in 64 bits.
        let declared = lines(70_000, &format!(".{space} .align 8 .b8 x#[{most}];"));
        let used = lines(2_000, "mov.u64 %d1, x#;");
        refused(&module_of(&declared, &used), said);
        for size in [
            "1099511627776",
            "18446744073709551615",
            "4294967296][4294967296",
        ] {
            let one = format!(".{space} .b8 x[{size}];");
            let error = load_error(&module_of(&one, "mov.u64 %d1, x;")).to_string();
            let larger = error.contains("larger than any memory");
            assert!(larger || error.contains(said), "{error}");
        }
    }
    for body in [
        ".local .b8 x[1099511627776];",
        ".param .b8 x[4294967297];",
        ".local .align 2147483648 .b8 x[4]; .local .align 2147483648 .b8 y[4];",
    ] {
        refused(&kernel_of(body), "local memory");
    }
    let params = |declared: String| format!("{HEAD}.entry k({declared}) {{ ret; }}");
    let many: Vec<String> = (0..70_000)
        .map(|n| format!(".param .b8 p{n}[{most}]"))
        .collect();
    refused(&params(many.join(", ")), "bytes of parameters");
    refused(
        &params(".param .b8 p[4294967300]".to_owned()),
        "bytes of parameters",
    );
    let aligned = ".param .align 2147483648 .b8";
    refused(
        &params(format!("{aligned} p[4], {aligned} q[4], {aligned} r[4]")),
        "bytes of parameters",
    );
    // Truncated to 32 bits, these sizes would fit.
    let function = ".func f(.param .b8 x[4294967300]) { ret; }";
    refused(&module_of(function, ""), "local memory");
    let function = format!(".func f({aligned} x[4], {aligned} y[4], {aligned} z[4]) {{ ret; }}");
    refused(&module_of(&function, ""), "local memory");
    let prototype = "P: .callprototype _ (.param .b8 _[4294967300]);";
    refused(&kernel_of(prototype), "local memory");
}

#[test]
fn counts_that_nobody_has() {
    for count in ["2147483648", "4294967295"] {
        let far = format!(".reg .b32 %q<{count}>; mov.u32 %q{}, %q1;", 2147483647);
        loads(&kernel_of(&far));
    }
    for bounds in [
        ".maxntid 4294967295, 4294967295, 4294967295",
        ".reqntid 4294967295, 4294967295, 4294967295",
        ".maxntid 0",
        ".maxnreg 4294967295 .minnctapersm 4294967295",
    ] {
        loads(&format!("{HEAD}.entry k() {bounds} {{ ret; }}"));
    }
}

#[test]
fn long_names_make_no_long_messages() {
    let name = "a".repeat(1 << 20);
    refused(
        &kernel_of(&format!("mov.u32 %r1, {name};")),
        "longer than 65536",
    );
    refused(
        &format!("{HEAD}.entry {name} {{ ret; }} .entry {name} {{ ret; }}"),
        "longer than 65536",
    );
}

/// The registers of active calls take memory too, and a function with a large array makes the
/// stack so large that many calls fit.
#[test]
fn recursion_with_many_registers_ends() {
    let set = lines(250, "mov.u32 %q#, %clock;");
    let used = lines(250, "st.volatile.global.u32 [0], %q#;");
    let functions = format!(
        ".func large() {{ .local .b8 x[500000]; ret; }}
        .func f() {{ .reg .b32 %q<250>; {set} call f; {used} ret; }}"
    );
    let body = "setp.eq.u32 %p1, %t, 9999; @%p1 call large; call f;";
    let mut machine = Machine::new(&module_of(&functions, body));
    let out = machine.out::<u32>(1);
    machine.time_limit = Duration::from_secs(60);
    let fault = machine.fault("k", 1, 256, params![out]);
    assert_eq!(fault.kind, FaultKind::CallsTooDeep, "{fault}");
    assert!(fault.to_string().starts_with("stack overflow"), "{fault}");
}

/// The name of a construct, and a function that generates a text with very many of it.
type Shape = (&'static str, fn() -> String);

const SHAPES: [Shape; 9] = [
    ("a kernel of 1 000 000 instructions", || {
        kernel(&lines(10 * MANY, "add.u32 %r1, %r1, %r2;"))
    }),
    ("100 000 labels that nothing goes to", || {
        kernel(&lines(MANY, "L#:"))
    }),
    ("16 000 branches, and a loop around them", || {
        let branches = lines(16_000, "@%p1 bra L#; add.u32 %r1, %r1, 1; L#:");
        kernel(&format!("A: {branches} @%p2 bra A;"))
    }),
    ("100 000 kernels", || {
        format!("{HEAD}{}", lines(MANY, ".entry k#() { ret; }"))
    }),
    ("100 000 functions, each calling the one before", || {
        let chain = lines(MANY, ".func f#() { call f~; ret; }");
        let last = MANY - 1;
        format!("{HEAD}{chain}.entry k() {{ call f{last}; ret; }}")
    }),
    ("100 000 global variables", || {
        format!("{HEAD}{}", lines(MANY, ".global .b32 g#;"))
    }),
    ("an array of 1 000 000 initial values", || {
        format!(
            "{HEAD}.global .u8 x[] = {{ {}1 }};",
            "1, ".repeat(10 * MANY)
        )
    }),
    ("a name of 10 MB", || {
        kernel(&format!("mov.u32 %r1, {};", "a".repeat(10_000_000)))
    }),
    ("10 MB of opening braces", || {
        kernel(&"{".repeat(10_000_000))
    }),
];

/// Runs in the child process of the test below: loads one of the shapes and prints its cost.
#[test]
#[ignore = "the test after it runs it in a process of its own"]
fn cost_of_one() {
    let wanted = std::env::var("SHAPE").expect("a shape's name");
    let (name, text) = SHAPES
        .iter()
        .find(|(name, _)| *name == wanted)
        .expect("a shape");
    let text = text();
    let before = memory("VmRSS:");
    let mut global = Global::new(1 << 30);
    let program = cuda_sim::lower::load(&text, &DeviceSpec::h200(), &mut global);
    let megabytes = text.len() as f64 / 1e6;
    let taken = (memory("VmHWM:") - before) as f64 / 1e6;
    println!(
        "\n| {name} | {} | {megabytes:.1} | {taken:.0} | {:.0} |",
        if program.is_ok() {
            "loads"
        } else {
            "is refused"
        },
        taken / megabytes
    );
}

/// Returns the process's memory in bytes: the current value (`VmRSS:`) or the peak (`VmHWM:`).
fn memory(which: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says");
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("so many kB") * 1024
}

/// Prints the table of `docs/results/robustness.md`: megabytes of text, of memory, and their ratio.
#[test]
#[ignore = "measures: cargo test -p cuda-sim --test exec -- --ignored --exact --nocapture hostile::costs"]
fn costs() {
    let program = std::env::current_exe().expect("this program");
    for (name, _) in SHAPES {
        let child = std::process::Command::new(&program)
            .args([
                "--ignored",
                "--exact",
                "hostile::cost_of_one",
                "--nocapture",
            ])
            .env("SHAPE", name)
            .output()
            .expect("this program runs");
        let text = String::from_utf8_lossy(&child.stdout);
        let row = text.lines().find(|line| line.starts_with("| "));
        println!("{}", row.expect("a row"));
    }
}
