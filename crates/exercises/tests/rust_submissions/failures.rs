//! Submissions that fail at run time. Each affects only itself, and its message names the problem.

use crate::Attempt;

pub const ATTEMPTS: &[Attempt] = &[
    Attempt::rejected_as(
        "a panic",
        "if count > 3 { panic!(\"too many: {count}\") }",
        "launch",
        &["too many: ", "answers/eve.rs:3"],
    ),
    Attempt::rejected_as(
        "an exit",
        "std::process::exit(0);",
        "launch",
        &["must not end the program"],
    ),
    Attempt::rejected_as(
        "an exit from another thread",
        "std::thread::spawn(|| std::process::exit(0)).join().unwrap();",
        "launch",
        &["must not end the program"],
    ),
    Attempt::rejected_as(
        "an endless loop",
        "loop { std::thread::yield_now(); }",
        "launch",
        &["endless loop"],
    )
    .with_time_limit("4"),
    Attempt::rejected_as(
        "an endless sleep",
        "loop { std::thread::park(); }",
        "launch",
        &["killed after 4 seconds"],
    )
    .with_time_limit("4"),
    Attempt::rejected_as(
        "a locked output",
        "std::thread::spawn(|| { let _held = std::io::stdout().lock(); loop { std::thread::park(); } }); std::thread::sleep(std::time::Duration::from_millis(50));",
        "launch",
        &["killed after 4 seconds"],
    )
    .with_time_limit("4"),
    Attempt::rejected_as(
        "one huge allocation",
        "let all = vec![1_u8; 5 << 30]; if all[count as usize] == 0 { return 7; }",
        "launch",
        &["4 GB of memory"],
    ),
    Attempt::rejected_as(
        "many allocations",
        "let mut all = Vec::new(); loop { all.push(vec![1_u8; 64 << 20]); if all.len() > 1000 { return 7; } }",
        "launch",
        &["4 GB of memory"],
    ),
    Attempt::rejected_as("an abort", "std::process::abort();", "launch", &["It was killed"]),
    Attempt::rejected_as(
        "a stack overflow",
        "fn deep(n: u64) -> u64 { let wide = [n; 100]; wide[(n % 100) as usize] + deep(n + 1) } if deep(u64::from(count)) == 1 { return 7; }",
        "launch",
        &["memory"],
    ),
    Attempt::rejected_as(
        "a panic during a panic",
        "struct Worse; impl Drop for Worse { fn drop(&mut self) { panic!(\"again\") } } let _worse = Worse; panic!(\"first\");",
        "launch",
        &["It was killed"],
    ),
    // Either starting a thread fails, which is a panic, or allocating its bookkeeping does.
    Attempt::rejected_as(
        "endless threads",
        "loop { std::thread::spawn(|| loop { std::thread::park(); }); }",
        "launch",
        &[],
    ),
    Attempt::passes(
        "a large output",
        "static ONCE: std::sync::Once = std::sync::Once::new(); ONCE.call_once(|| for line in 0..100_000 { println!(\"line {line}\"); });",
    ),
    Attempt::passes(
        "an endless line",
        "static ONCE: std::sync::Once = std::sync::Once::new(); ONCE.call_once(|| for _ in 0..3000 { print!(\"{}\", \"x\".repeat(1000)); });",
    ),
];
