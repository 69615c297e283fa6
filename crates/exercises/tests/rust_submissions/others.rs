//! A class in which one student attacks the others; the exercise on events; a compiler that is too old.

use std::fs;

use crate::support::find;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::escapes;
use crate::sandbox::Sandbox;
use crate::support::{Program, blocks, unless, with_clang};

/// Returns all tests; `unconfined_reason` is the reason why a program's files cannot be protected here, if
/// any. Tries to change other students' submissions, its own later ones, and the results.
pub fn tests(unconfined_reason: Option<&'static str>) -> Vec<Trial> {
    vec![
        unless(unconfined_reason, "a class", class),
        with_clang(
            "events: data about a launch does not reveal the time",
            events,
        ),
        with_clang("printed output is shown", printed),
        #[cfg(unix)]
        with_clang("a compiler that is too old is named", old_compiler),
    ]
}

/// Tries to change other students' submissions and its own later ones, and waits for the results.
const TAMPERING: &str = r#"once(|| {
        for student in ["ann", "eve", "zoe"] {
            let file = format!("FOLDER/class/{student}/10-pitched-copy.rs");
            assert_denied("another submission", fs::write(&file, "int tampered = x;"));
            assert_denied("a solution", fs::copy("CHECKOUT/kernels/exercises/10-pitched-copy/solution.rs", &file));
        }
        assert_denied("the results", fs::write("FOLDER/class.json", "{}"));
        assert_denied("a process that waits for them", Command::new("setsid")
            .args(["-f", "sh", "-c", "sleep 2; echo {} > FOLDER/class.json"]).status());
    });"#;

fn class() -> Result<(), Failed> {
    let program = Program::new();
    let home = program.home().display().to_string();
    let (course, copy) = (
        find("03").ok_or("no exercise")?,
        find("10").ok_or("no exercise")?,
    );
    let tampering = blocks(escapes::ITEMS, TAMPERING, crate::RIGHT)
        .replace("FOLDER", &home)
        .replace("CHECKOUT", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for (student, text) in [
        ("ann", course.solution()),
        ("eve", &tampering),
        ("zoe", course.start()),
    ] {
        let folder = program.home().join("class").join(student);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(course.file()), text)?;
        fs::write(folder.join(copy.file()), copy.start())?;
    }
    program.expect(
        "check --all --submissions class --seed 5 --out class.json --jobs 1",
        0,
        &["2 passed, 4 rejected"],
    );
    let record: Value = serde_json::from_slice(&fs::read(program.home().join("class.json"))?)?;
    let record_text = record.to_string();
    assert!(!record_text.contains("this worked"), "{record:#}");
    for student in ["ann", "eve", "zoe"] {
        let file = program.home().join("class").join(student).join(copy.file());
        assert_eq!(fs::read_to_string(file)?, copy.start());
    }
    Ok(())
}

/// A student's process cannot pass by timing the host: it can only measure how long requesting a launch takes.
fn events() -> Result<(), Failed> {
    let sandbox = Sandbox::new();
    let text = "use answers::cust::{error::CudaResult, stream::Stream};\n\
        pub fn median_ms(stream: &Stream, samples: usize, launch: &dyn Fn() -> CudaResult<()>) -> CudaResult<f32> {\n\
        let mut times = Vec::new();\n\
        for _ in 0..=samples { let begin = std::time::Instant::now(); launch()?; stream.synchronize()?;\n\
        times.push(begin.elapsed().as_secs_f32() * 1e3); }\n\
        times.remove(0); times.sort_by(f32::total_cmp); Ok(times[samples / 2]) }\n";
    let (code, record) = sandbox.grade("25", text, crate::SECONDS);
    if code != 1 || record["step"] != "right" {
        return Err(format!("exit code {code}: {record:#}").into());
    }
    for result in ["f32::NAN", "f32::INFINITY", "0.0", "-1.0"] {
        let text = format!(
            "use answers::cust::{{error::CudaResult, stream::Stream}};\n\
             pub fn median_ms(_: &Stream, samples: usize, launch: &dyn Fn() -> CudaResult<()>) -> CudaResult<f32> {{\n\
             for _ in 0..=samples {{ launch()?; }} Ok({result}) }}\n"
        );
        let (code, record) = sandbox.grade("25", &text, crate::SECONDS);
        let message = record["message"].as_str().unwrap_or_default();
        if code != 1 || record["step"] != "right" || !message.contains("milliseconds") {
            return Err(format!("{result}: exit code {code}: {record:#}").into());
        }
    }
    sandbox.assert_unchanged(&Value::Null)
}

fn printed() -> Result<(), Failed> {
    let sandbox = Sandbox::new();
    let statements = "if count == 3 { println!(\"three\"); print!(\"and no end\"); }";
    let (code, record) = sandbox.grade("03", &blocks("", statements, crate::RIGHT), crate::SECONDS);
    assert_eq!(code, 0, "{record:#}");
    let record_text = record["printed"].as_str().unwrap_or_default();
    assert!(record_text.contains("three\nand no end"), "{record:#}");
    assert!(!record_text.contains("@reply"), "{record:#}");
    Ok(())
}

/// Replaces the course's compiler by one that is two years old.
#[cfg(unix)]
fn old_compiler() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir()?;
    let compiler = folder.path().join("rustc");
    let script = "#!/bin/sh\n\
        case \"$1\" in\n\
        --print) echo /nowhere ;;\n\
        --version) echo 'rustc 1.70.0 (90c541806 2023-05-31)' ;;\n\
        *) echo 'error[E0514]: found crate compiled by an incompatible version' >&2; exit 1 ;;\n\
        esac\n";
    fs::write(&compiler, script)?;
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
    let program = Program::new().with_env("RUSTC", &compiler);
    let file = program.write("03-blocks.rs", find("03").ok_or("no exercise")?.solution());
    let run = program.run(&["check", "03", "--file", file.to_str().ok_or("a path")?]);
    run.assert_error(&["need Rust 1.95 or newer", "1.70.0", "rustup update"]);
    let chinese = program.with_env("LC_ALL", "zh_CN.UTF-8");
    let run = chinese.run(&["check", "03", "--file", file.to_str().ok_or("a path")?]);
    run.assert_has(2, &["需要 Rust 1.95", "1.70.0"]);
    Ok(())
}
