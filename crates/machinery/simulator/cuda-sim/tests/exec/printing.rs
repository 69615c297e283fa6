//! Output of kernels, assertions and traps.

use crate::harness::*;
use cuda_sim::exec::FaultKind;

const PTX: &str = include_str!("../../kernels/ptx/printing.ptx");

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("not UTF-8")
}

#[test]
fn every_conversion_prints_like_c() {
    let machine = Machine::new(PTX);
    let params = params![0xabc0u64, 1234.5678f64, -5_000_000_000i64];
    let report = machine.run("conversions", 1, 1, params);
    let expected = [
        "-42 7 3000000000 10 ff FF|",
        "-5000000000 18446744068709551616 fffffffed5fa0e00 -42|",
        "-5 200|",
        "  -42|-42  |-0042|+5| 5|",
        "1234.57|1.234568e+03|1234.57|1e-10|1e+20|-1234.568|",
        "odd|      even|ab    |ab|",
        "ok|0xabc0|%|",
        "   -42|-42   |1234.6|",
        "plain\n",
    ];
    assert_eq!(as_text(&report.printed), expected.concat());
}

/// The `%g` conversion prints the same as a C library.
#[test]
fn g_conversion_prints_like_c() {
    let table = "
        0.0 => 0|         0|0         |0|0|0|+0
        1.0 => 1|         1|1         |1|1|1|+1
        -1.5 => -1.5|      -1.5|-1.5      |-1.5|-2|-1.5|-1.5
        100000.0 => 100000|    100000|100000    |1e+05|1e+05|100000|+100000
        1e6 => 1e+06|     1e+06|1e+06     |1e+06|1e+06|1E+06|+1e+06
        123456789.0 => 1.23457e+08|1.23457e+08|1.23457e+08|1.23e+08|1e+08|1.23457E+08|+1.23457e+08
        999999.5 => 1e+06|     1e+06|1e+06     |1e+06|1e+06|1E+06|+1e+06
        0.0001 => 0.0001|    0.0001|0.0001    |0.0001|0.0001|0.0001|+0.0001
        0.00001 => 1e-05|     1e-05|1e-05     |1e-05|1e-05|1E-05|+1e-05
        1e-300 => 1e-300|    1e-300|1e-300    |1e-300|1e-300|1E-300|+1e-300
        inf => inf|       inf|inf       |inf|inf|INF|+inf
    ";
    let values: Vec<f64> = cases(table)
        .map(|(value, _)| value.parse().expect("no number"))
        .collect();
    let mut machine = Machine::new(PTX);
    let from = machine.buffer(&values);
    let report = machine.run("shortest", 1, values.len() as u32, params![from]);
    let expected: String = cases(table).map(|(_, line)| format!("{line}\n")).collect();
    assert_eq!(as_text(&report.printed), expected);
}

#[test]
fn nan_and_infinities_are_printed() {
    let machine = Machine::new(PTX);
    let infinity = f64::INFINITY;
    for (value, expected) in [(f64::NAN, "nan"), (infinity, "inf"), (-infinity, "-inf")] {
        let report = machine.run("conversions", 1, 1, params![0u64, value, 0i64]);
        let fields: Vec<&str> = as_text(&report.printed).split('|').collect();
        assert!(fields.contains(&expected), "{expected} in {fields:?}");
    }
}

#[test]
fn output_is_ordered_by_block() {
    for threads in [1, 2, 4] {
        let mut machine = Machine::new(PTX);
        machine.use_threads(threads);
        let report = machine.run("by_block", 20, 40, params![]);
        let expected: String = (0..20)
            .flat_map(|block| (0..40).map(move |t| format!("block {block} thread {t}\n")))
            .collect();
        assert_eq!(as_text(&report.printed), expected);
    }
}

#[test]
fn printf_returns_the_number_of_arguments() {
    let mut machine = Machine::new(PTX);
    let out = machine.out::<i32>(3);
    machine.run("result", 1, 3, params![out]);
    assert_eq!(machine.read::<i32>(out, 3), [2; 3]);
}

#[test]
fn failed_assertion_is_reported_like_cuda() {
    let mut machine = Machine::new(PTX);
    let mut input = vec![1i32; 128];
    let address = machine.buffer(&input);
    machine.run("checked", 1, 128, params![address]);
    input[70] = -1;
    let address = machine.buffer(&input);
    let fault = machine.fault("checked", 2, 128, params![address]);
    let FaultKind::Assert { message } = &fault.kind else {
        panic!("unexpected fault: {fault}")
    };
    let line = line_of(include_str!("../../kernels/printing.cu"), "assert(");
    let expected = format!(
        "kernels/printing.cu:{line}: checked: block: [0,0,0], thread: [70,0,0] Assertion `in[threadIdx.x] >= 0 && \"must not be negative\"` failed."
    );
    assert_eq!(*message, expected);
    assert_eq!(fault.to_string(), expected);
}

#[test]
fn trap_ends_the_launch() {
    let mut machine = Machine::new(PTX);
    let mut input = vec![1i32; 64];
    input[40] = -1;
    let address = machine.buffer(&input);
    let fault = machine.fault("trapped", 1, 64, params![address]);
    assert_eq!(fault.kind, FaultKind::Trap);
    let location = location(&fault);
    assert_eq!(location.thread, [40, 0, 0]);
    assert_eq!(location.source.file.as_deref(), Some("kernels/printing.cu"));
}

#[test]
fn output_before_a_fault_is_kept() {
    let ptx = module_of(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 1 .b8 said[6] = {115, 97, 105, 100, 10, 0};",
        "{ .param .b64 f; .param .b64 a; .param .b32 r;
        mov.u64 %d1, said;
        cvta.global.u64 %d2, %d1;
        st.param.b64 [f], %d2;
        st.param.b64 [a], 0;
        call (r), vprintf, (f, a); }
        setp.eq.u32 %p1, %t, 1;
        @%p1 trap;",
    );
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<u32>(2);
    let report = machine.report(&Launch::new("k", 1, 2, params![out]));
    assert_eq!(as_text(&report.printed), "said\nsaid\n");
    assert_eq!(report.result.unwrap_err().kind, FaultKind::Trap);
}

/// The format or a string is at an invalid address.
#[test]
fn unreadable_format_and_arguments_fault() {
    let ptx = module_of(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 1 .b8 said[3] = {37, 115, 0};",
        "{ .param .b64 f; .param .b64 a; .param .b32 r;
        ld.global.u64 %d1, [%out];
        ld.global.u64 %d2, [%out+8];
        st.param.b64 [f], %d1;
        st.param.b64 [a], %d2;
        call (r), vprintf, (f, a); }",
    );
    let mut machine = Machine::new(&ptx);
    let (format, _) = machine.program.variable("said").expect("no such variable");
    // An invalid format; invalid arguments; an invalid string argument.
    let invalid_list = machine.buffer(&[64u64]);
    for (format, arguments, address) in [
        (64, invalid_list, 64),
        (format, 32, 32),
        (format, invalid_list, 64),
    ] {
        let out = machine.buffer(&[format, arguments]);
        let fault = machine.fault("k", 1, 1, params![out]);
        assert_eq!(illegal(&fault).1, address);
    }
}
