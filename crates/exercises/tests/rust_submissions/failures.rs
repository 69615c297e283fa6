//! Submissions that fail at run time. Each affects only itself, and its message names the problem.

use crate::Attempt;

/// Lists submissions that are rejected while they run, as `name: statements => parts of the message;`.
macro_rules! failures {
    ($($name:literal: $statements:literal => $parts:expr $(, $seconds:literal)?;)*) => {
        &[$(Attempt::rejected_as($name, $statements, "launch", $parts)$(.with_time_limit($seconds))?),*]
    };
}

pub const ATTEMPTS: &[Attempt] = failures! {
    "a panic":
        "if count > 3 { panic!(\"too many: {count}\") }" => &["too many: ", "answers/eve.rs:3"];
    "an exit": "std::process::exit(0);" => &["must not end the program"];
    "an exit from another thread":
        "std::thread::spawn(|| std::process::exit(0)).join().unwrap();" => &["must not end the program"];
    "an endless loop": "loop { std::thread::yield_now(); }" => &["endless loop"], "4";
    "an endless sleep": "loop { std::thread::park(); }" => &["killed after 4 seconds"], "4";
    "a locked output":
        "std::thread::spawn(|| { let _held = std::io::stdout().lock(); loop { std::thread::park(); } }); std::thread::sleep(std::time::Duration::from_millis(50));"
        => &["killed after 4 seconds"], "4";
    "one huge allocation":
        "let all = vec![1_u8; 5 << 30]; if all[count as usize] == 0 { return 7; }" => &["4 GB of memory"];
    "many allocations":
        "let mut all = Vec::new(); loop { all.push(vec![1_u8; 64 << 20]); if all.len() > 1000 { return 7; } }"
        => &["4 GB of memory"];
    "an abort": "std::process::abort();" => &["It was killed"];
    "a stack overflow":
        "fn deep(n: u64) -> u64 { let wide = [n; 100]; wide[(n % 100) as usize] + deep(n + 1) } if deep(u64::from(count)) == 1 { return 7; }"
        => &["memory"];
    "a panic during a panic":
        "struct Worse; impl Drop for Worse { fn drop(&mut self) { panic!(\"again\") } } let _worse = Worse; panic!(\"first\");"
        => &["It was killed"];
    "three thousand threads with small stacks":
        "let threads: Vec<_> = (0..3000).map_while(|_| std::thread::Builder::new().stack_size(16384)
            .spawn(|| std::thread::sleep(std::time::Duration::from_secs(2))).ok()).collect(); if threads.len() == 7 { return 7; }"
        => &["more than 256 threads"];
    // Either starting a thread fails, which is a panic, or allocating its bookkeeping does.
    "endless threads": "loop { std::thread::spawn(|| loop { std::thread::park(); }); }" => &[];
};

/// Submissions that pass in spite of what they print.
pub const HARMLESS: &[Attempt] = &[
    Attempt::passes(
        "a large output",
        "static ONCE: std::sync::Once = std::sync::Once::new(); ONCE.call_once(|| for line in 0..100_000 { println!(\"line {line}\"); });",
    ),
    Attempt::passes(
        "an endless line",
        "static ONCE: std::sync::Once = std::sync::Once::new(); ONCE.call_once(|| for _ in 0..3000 { print!(\"{}\", \"x\".repeat(1000)); });",
    ),
];
