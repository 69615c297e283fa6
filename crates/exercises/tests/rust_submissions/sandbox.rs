//! A sandbox folder: everything that a submission could damage is compared before and after.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::Program;

/// The folder, and a port that must not be connected to.
pub struct Sandbox {
    program: Program,
    port: TcpListener,
    before: Files,
}

impl Sandbox {
    /// Creates the folder with another student's submission, a teacher's file and results.
    pub fn new() -> Sandbox {
        let program = Program::new().with_temporary_folder();
        let home = program.home();
        for (name, text) in [
            ("ann/03-blocks.rs", "// Ann's secret answer\n"),
            ("teacher.txt", "the teacher's secret\n"),
            ("results/class.json", "{\"eve\": \"missing\"}\n"),
        ] {
            let file = home.join(name);
            fs::create_dir_all(file.parent().expect("a folder"))
                .expect("the folder can be created");
            fs::write(file, text).expect("the file can be written");
        }
        let port = TcpListener::bind("127.0.0.1:0").expect("a port");
        port.set_nonblocking(true).expect("the port can be set");
        let before = files(home);
        Sandbox {
            program,
            port,
            before,
        }
    }

    /// Replaces the placeholders in a text.
    pub fn fill(&self, text: &str) -> String {
        let port = self.port.local_addr().expect("an address").port();
        let folder = self.program.home().display().to_string();
        text.replace("FOLDER", &folder)
            .replace(
                "TEN_THOUSAND_ERRORS",
                &"let _: u8 = \"a text\";\n".repeat(10_000),
            )
            .replace("PORT", &port.to_string())
            .replace("CHECKOUT", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .replace("COURSE.RLIB", &library().display().to_string())
    }

    /// Grades a submission to an exercise.
    pub fn grade(&self, exercise: &str, text: &str, seconds: &str) -> (i32, Value) {
        let file = self.program.write("eve.rs", text);
        self.program.grade_within(seconds, exercise, &file)
    }

    /// Checks that nothing was changed, revealed, or left behind.
    pub fn assert_unchanged(&self, record: &Value) -> Result<(), Failed> {
        let record_text = record.to_string();
        for secret in ["Ann's secret", "teacher's secret", "root:x:0"] {
            if record_text.contains(secret) {
                return Err(format!("it tells {secret}: {record:#}").into());
            }
        }
        let after = files(self.program.home());
        let names = |some: &Files, others: &Files| {
            let changed = some
                .iter()
                .filter(|(path, text)| others.get(*path) != Some(text));
            changed.map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        if after != self.before {
            let (removed, added) = (names(&self.before, &after), names(&after, &self.before));
            return Err(format!("{removed:?} became {added:?}").into());
        }
        match self.port.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => return Err(format!("it connected: {other:?}").into()),
        }
        match running(self.program.home()) {
            None => Ok(()),
            Some(process) => Err(format!("it left a process: {process}").into()),
        }
    }
}

/// Files and their contents; folders have empty contents.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Returns all files in a folder, except the student's own, which the course creates.
fn files(folder: &Path) -> Files {
    let mut contents = Files::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.ends_with("answers") {
            continue;
        }
        if path.is_dir() {
            contents.extend(files(&path));
        }
        contents.insert(path.clone(), fs::read(&path).unwrap_or_default());
    }
    contents
}

/// Returns the course's library, which contains the solutions.
fn library() -> PathBuf {
    let libraries = Path::new(env!("CARGO_BIN_EXE_exercises")).with_file_name("deps");
    let files = fs::read_dir(libraries)
        .expect("cargo's output folder")
        .flatten();
    let mut libraries = files.map(|file| file.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libexercises-") && name.ends_with(".rlib")
    });
    libraries.next().expect("the course's library")
}

/// Returns a process whose command or environment mentions the folder, on systems with `/proc`.
fn running(folder: &Path) -> Option<String> {
    let folder = folder.display().to_string();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.map(|process| process.path()).find_map(|process| {
        let details =
            ["cmdline", "environ"].map(|file| fs::read(process.join(file)).unwrap_or_default());
        let details = String::from_utf8_lossy(&details.concat()).into_owned();
        details.contains(&folder).then_some(details)
    })
}
