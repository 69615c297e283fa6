//! Tests with malicious input: the result is a tree or an error, in linear time, and never a panic.

use proptest::prelude::*;
use proptest::sample::Index;

use super::compiled::{CALLS, DEBUG, LANES, TABLES};
use super::{HEAD, refusal};
use crate::ptx::parse;

const FILES: [&str; 4] = [TABLES, CALLS, LANES, DEBUG];

#[test]
fn truncated_files_do_not_panic() {
    // Truncate all files at line ends, and the shortest file at every byte.
    for source in FILES {
        for (end, _) in source.match_indices('\n') {
            let _ = parse(&source[..end]);
        }
    }
    for end in 0..LANES.len() {
        let _ = parse(&LANES[..end]);
    }
    let inside = LANES.find("ld.param").unwrap();
    assert!(parse(&LANES[..inside]).is_err());
}

#[test]
fn deep_nesting_is_rejected() {
    let deep = 50_000;
    let texts = [
        format!(".entry k() {}", "{".repeat(deep)),
        format!(".global .u32 x = {}", "(".repeat(deep)),
        format!(".global .u32 x = {}", "-".repeat(deep)),
        format!(".global .u32 x = {}", "-(".repeat(deep)),
        format!(
            ".global .u32 x{} = {}",
            "[1]".repeat(deep),
            "{".repeat(deep)
        ),
        format!(".entry k() {{ op [a+{}", "(".repeat(deep)),
    ];
    for text in texts {
        assert!(refusal(&text).ends_with("nesting is limited to 64 levels"));
    }
}

#[test]
fn parsing_takes_linear_time() {
    // With quadratic time in any of these, the test would not finish.
    let long = 50_000;
    let refused = [
        format!(".section .debug_x {}", "{".repeat(long)),
        format!(".entry k() {{ {}", "a:".repeat(long)),
        format!(".entry k() {{ op {}", "a,".repeat(long)),
        format!(".global .u32 x = {}", "1+".repeat(long)),
        format!(
            ".global .u32 x{} = {{{}",
            "[1]".repeat(long),
            "{1},".repeat(long)
        ),
        format!(".global .u32 x[{}];", "9".repeat(long)),
        format!("{}/*", "/**/".repeat(long)),
    ];
    for text in refused {
        assert!(parse(&format!("{HEAD}{text}")).is_err());
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = parse(&text);
        let _ = parse(&format!("{HEAD}{text}"));
        let _ = parse(&format!("{HEAD}.entry k() {{ {text}"));
    }

    #[test]
    fn random_tokens_never_panic(tokens in proptest::collection::vec(proptest::sample::select(TOKENS.split_whitespace().collect::<Vec<_>>()), 0..60)) {
        let text = tokens.join(" ");
        let _ = parse(&format!("{HEAD}{text}"));
        let _ = parse(&format!("{HEAD}.entry k() {{ {text} }}"));
    }

    #[test]
    fn random_changes(
        file in 0..FILES.len(),
        changes in proptest::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = FILES[file].as_bytes().to_vec();
        for (position, other, byte) in changes {
            let (position, other) = (position.index(bytes.len()), other.index(bytes.len()));
            match byte % 3 {
                0 => bytes[position] = byte,
                1 => bytes.swap(position, other),
                _ => drop(bytes.drain(position.min(other)..(position.min(other) + 20).min(position.max(other) + 1))),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = parse(&text) {
            // The error location is inside the text.
            let lines = text.split('\n').count();
            prop_assert!((1..=lines).contains(&(error.line as usize)));
            let line = text.split('\n').nth(error.line as usize - 1).unwrap_or_default();
            prop_assert!((1..=line.chars().count() + 1).contains(&(error.column as usize)));
        }
    }
}

const TOKENS: &str = r#"
    .entry .func .reg .b32 .global .shared .param .align .v4 .loc .file .section .pragma
    .visible .maxntid .callprototype add call %r1 _ x generic 0 5 0x 1.5
    18446744073709551615 "s" ( ) { } [ ] < > , ; : = @ ! ~ + - * / % & | ^
"#;
