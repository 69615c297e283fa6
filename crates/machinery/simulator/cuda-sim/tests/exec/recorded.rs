//! Single instructions and pairs of them, compared with the results of an H200, bit for bit.

use crate::harness::*;
use std::fmt::Write as _;

/// The record made by `scripts/instructions`.
const H200: &str = include_str!("instructions-h200.txt");

/// Words per row of operands, and per row of results.
const WORDS: usize = 6;
const RESULTS: usize = 5;

/// Snippets per module.
const BATCH: usize = 64;

/// PTX from `%x0` … to `%y0` …, the operands, and the GPU's results.
struct Snippet {
    code: &'static str,
    rows: Vec<([u32; WORDS], [u32; RESULTS])>,
}

fn snippets() -> Vec<Snippet> {
    let mut all: Vec<Snippet> = Vec::new();
    for line in H200.lines().filter(|line| !line.starts_with('#')) {
        if let Some(code) = line.strip_prefix(": ") {
            let rows = Vec::new();
            all.push(Snippet { code, rows });
            continue;
        }
        let (operands, results) = line.split_once(" = ").expect("the line has no results");
        let snippet = all.last_mut().expect("a row precedes its snippet");
        snippet
            .rows
            .push((parse_words(operands), parse_words(results)));
    }
    all
}

/// Parses hexadecimal words. Missing ones are zero.
fn parse_words<const N: usize>(text: &str) -> [u32; N] {
    let mut words = [0; N];
    for (word, text) in words.iter_mut().zip(text.split(',')) {
        *word = u32::from_str_radix(text, 16).expect("not hexadecimal");
    }
    words
}

/// Returns the kernel around a snippet, the same as in `scripts/warpbook/instructions/template.py`.
fn kernel(number: usize, code: &str) -> String {
    let mut text = format!(
        ".visible .entry k{number}(.param .u64 rows, .param .u64 answers) {{
            .reg .b16 %h<8>;
            .reg .b32 %x<6>, %y<5>, %t<8>, %thread, %cell;
            .reg .b64 %a<3>, %d<3>, %row, %answer;
            .reg .pred %p<4>;
            .shared .align 8 .b8 cells[256];
            mov.u32 %thread, %tid.x;
            ld.param.u64 %row, [rows];
            ld.param.u64 %answer, [answers];
            mad.wide.u32 %row, %thread, 24, %row;
            mad.wide.u32 %answer, %thread, 20, %answer;
            mov.u32 %cell, cells;
            mad.lo.u32 %cell, %thread, 8, %cell;\n"
    );
    for n in 0..WORDS {
        let _ = writeln!(text, "ld.global.u32 %x{n}, [%row+{}];", 4 * n);
    }
    for n in 0..RESULTS {
        let _ = writeln!(text, "mov.u32 %y{n}, 0;");
    }
    text += "mov.b64 %a0, {%x0, %x1}; mov.b64 %a1, {%x2, %x3}; mov.b64 %a2, {%x4, %x5};\n";
    text += code;
    for n in 0..RESULTS {
        let _ = writeln!(text, "\nst.global.u32 [%answer+{}], %y{n};", 4 * n);
    }
    text + "ret;\n}\n"
}

/// Compares the rows of the snippets for which `is_selected` is true. Returns the number of rows.
fn compare(is_selected: impl Fn(&str) -> bool) -> usize {
    let snippets: Vec<Snippet> = snippets()
        .into_iter()
        .filter(|snippet| is_selected(snippet.code))
        .collect();
    let mut compared = 0;
    let mut differing = Vec::new();
    for part in snippets.chunks(BATCH) {
        let mut text = ".version 8.0\n.target sm_90\n.address_size 64\n".to_owned();
        for (number, snippet) in part.iter().enumerate() {
            text += &kernel(number, snippet.code);
        }
        let mut machine = Machine::new(&text);
        for (number, snippet) in part.iter().enumerate() {
            let operands: Vec<u32> = snippet.rows.iter().flat_map(|row| row.0).collect();
            let rows = machine.buffer(&operands);
            let results = machine.out::<u32>(RESULTS * snippet.rows.len());
            let threads = snippet.rows.len() as u32;
            machine
                .launch(&Launch::new(
                    &format!("k{number}"),
                    1,
                    threads,
                    params![rows, results],
                ))
                .unwrap_or_else(|fault| panic!("{}: {fault:?}", snippet.code));
            let output: Vec<u32> = machine.read(results, RESULTS * snippet.rows.len());
            for (simulated, (operands, recorded)) in output.chunks(RESULTS).zip(&snippet.rows) {
                compared += 1;
                if simulated != recorded {
                    differing.push(format!(
                        "{}: of {operands:x?} {recorded:x?}, simulated {simulated:x?}",
                        snippet.code
                    ));
                }
            }
        }
    }
    let shown: Vec<&String> = differing.iter().take(20).collect();
    assert!(
        differing.is_empty(),
        "{} of {compared} rows differ: {shown:#?}",
        differing.len()
    );
    compared
}

/// Returns true if a snippet is a pair of instructions that pass on the carry.
fn carries(code: &str) -> bool {
    code.contains("addc.u32 %y4")
}

#[test]
fn carry_pairs_match_an_h200() {
    // Eight instructions that write the carry, eight that read it, four types, seven rows each.
    assert_eq!(compare(carries), 8 * 8 * 4 * 7);
}

/// Returns true if a snippet flushes a single-precision result.
fn flushes(code: &str) -> bool {
    code.contains(".ftz.") && code.contains("f32 %y0")
        || code.contains(".ftz.f32.f64")
        || code.contains(".ftz.sat.f32")
}

#[test]
fn flushed_results_match_an_h200() {
    let compared = compare(flushes);
    assert!(compared > 700, "{compared}");
}

#[test]
fn values_that_share_a_register_match_an_h200() {
    let compared = compare(|code| {
        !carries(code) && !flushes(code) && !code.contains("noftz") && !code.contains("cas")
    });
    assert!(compared > 4_000, "{compared}");
}

#[test]
fn half_atomics_match_an_h200() {
    let compared = compare(|code| code.contains("noftz") || code.contains("cas.b16"));
    assert!(compared > 500, "{compared}");
}
