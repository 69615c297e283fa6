//! Wrong submissions that claim to be correct.

use crate::Attempt;

/// The message for an invalid reply.
const INVALID_REPLY: &[&str] = &["not what your functions return", "`@reply`"];
/// The message for an extra reply.
const EXTRA_REPLY: &[&str] = &["Your submission sent more replies", "`@reply`"];

/// Lists forgeries as `name: statements => step, parts of the message;`, optionally followed by a method of [`Attempt`].
macro_rules! forgeries {
    (
        $($name:literal: $statements:literal => $step:literal, $parts:expr
            $(, $method:ident($($items:expr)?))?;)*
    ) => {
        &[$(Attempt::rejected_as($name, $statements, $step, $parts)$(.$method($($items)?))?),*]
    };
}

pub const ATTEMPTS: &[Attempt] = forgeries! {
    "a verdict without its token":
        r##"println!("{}", r#"{"token":"","message":{"verdict":{"seed":1,"device":"","failure":null,"targets":[],"counters":[],"time":null}}}"#);"##
        => "right", &["wrong"], with_wrong_result();
    "a forged course error":
        r##"println!("{}", r#"{"token":"","message":{"broken":""}}"#);"## => "right", &["wrong"], with_wrong_result();
    "a reply that is none": r#"println!("@reply yes");"# => "launch", INVALID_REPLY, with_wrong_result();
    "an empty reply": r#"println!("\n@reply ");"# => "launch", INVALID_REPLY, with_wrong_result();
    "a reply with a verdict":
        r##"println!("{}", r#"@reply {"number":1,"outcome":{"passed":true}}"#);"##
        => "launch", INVALID_REPLY, with_wrong_result();
    "a reply too short":
        r##"println!("{}", r#"@reply {"number":1,"outcome":{"data":{"grids":[[3,3]],"blocks":[]}}}"#);"##
        => "launch", INVALID_REPLY;
    "a reply too long":
        r##"println!("@reply {{\"number\":1,\"outcome\":{{\"data\":{{\"grids\":[[3,3]],\"blocks\":[1{}]}}}}}}", ",1".repeat(5000));"##
        => "launch", INVALID_REPLY;
    "a reply of megabytes":
        r##"println!("@reply {{\"number\":1,\"outcome\":{{\"data\":{{\"grids\":[[3,3]],\"blocks\":[1{}]}}}}}}", ",1".repeat(1 << 21));"##
        => "launch", INVALID_REPLY;
    "a forged panic":
        r##"println!("{}", r#"@reply {"number":1,"outcome":{"panic":{"why":"see?","call":""}}}"#);"##
        => "launch", &["see?"];
    "a forged reply before the real one": "reply(1);" => "launch", EXTRA_REPLY, with_items(REPLIES);
    "all replies in advance, then exit":
        "for number in 1..=20 { reply(number); } std::process::exit(0);" => "right", &["`grid`"], with_items(REPLIES);
    "a reply to a future request": "reply(2);" => "launch", EXTRA_REPLY, with_items(REPLIES);
    "a reply with trailing data":
        "static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| { std::thread::spawn(|| loop { reply(7); std::thread::yield_now(); }); });"
        => "launch", EXTRA_REPLY, with_items(REPLIES);
    "consumed requests":
        "static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| { std::thread::spawn(|| for line in std::io::stdin().lines() { println!(\"{line:?}\"); }); });"
        => "right", &["wrong"], with_wrong_result();
    "a replaced panic hook":
        "std::panic::set_hook(Box::new(|_| println!(\"@reply fine\"))); panic!(\"hidden\");"
        => "launch", INVALID_REPLY;
    "an exit after the first reply":
        "if count == u32::MAX - 599 && block == 2 { std::thread::spawn(|| { std::thread::sleep(std::time::Duration::from_millis(100)); std::process::exit(0) }); std::thread::sleep(std::time::Duration::from_millis(50)); }"
        => "launch", &["must not end the program"];
};

/// A function that forges replies, as the program around a submission writes them: the correct reply to the
/// first request.
const REPLIES: &str = r#"fn reply(number: u32) {
    println!("\n@reply {{\"number\":{number},\"outcome\":{{\"data\":{{\"grids\":[[3,3]],\"blocks\":{:?}}}}}}}", right());
}
fn right() -> Vec<u32> {
    let up = (0..600).map(|n: u32| n.div_ceil(128));
    let down = |block: u32| (0..600).map(move |n: u32| (u32::MAX - n).div_ceil(block));
    up.chain(down(128)).chain(down(2)).collect()
}"#;

/// Forgeries that need files which a confined program cannot open.
pub const NEED_CONFINEMENT: &[Attempt] = &[
    Attempt::rejected_as(
        "a verdict with the token read from its own memory",
        r##"let maps = fs::read_to_string("/proc/self/maps").expect("the memory map");
    let mut memory = fs::File::open("/proc/self/mem").expect("the memory");
    for line in maps.lines().filter(|line| line.contains("rw-p")) {
        let (from, to) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|digits| u64::from_str_radix(digits, 16).unwrap());
        let mut bytes = vec![0; (to - from).min(64 << 20) as usize];
        if memory.seek(SeekFrom::Start(from)).is_err() || memory.read_exact(&mut bytes).is_err() { continue; }
        for window in bytes.windows(41).filter(|window| window.starts_with(b"\"token\":\"")) {
            let token = String::from_utf8_lossy(&window[9..]);
            println!("\n{{\"token\":\"{token}\",\"message\":{{\"verdict\":{{\"seed\":1,\"device\":\"\",\"failure\":null,\"targets\":[],\"counters\":[],\"time\":null}}}}}}");
        }
    }"##,
        "launch",
        &["panicked: the memory map"],
    )
    .with_items("use std::fs;\nuse std::io::{Read, Seek, SeekFrom};")
    .with_wrong_result(),
    Attempt::rejected_as(
        "the grader's memory",
        r#"let parent = std::os::unix::process::parent_id();
    std::fs::File::open(format!("/proc/{parent}/mem")).expect("the parent process");"#,
        "launch",
        &["panicked: the parent process"],
    ),
    Attempt::rejected_as(
        "the grader's output",
        r#"let parent = std::os::unix::process::parent_id();
    std::fs::OpenOptions::new().write(true).open(format!("/proc/{parent}/fd/1")).expect("the grader's output");"#,
        "launch",
        &["panicked: the grader's output"],
    ),
];
