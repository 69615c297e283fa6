//! Tests of a confined program, which is this test program itself, started again with a task.

use std::env;
use std::error::Error;
use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

use confine::{Rules, kept, system_libraries};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tempfile::TempDir;

/// The first argument of a process with a task.
const TASK: &str = "task";

/// The CPU time limit in seconds, unless a test sets another.
const COMPUTING: u64 = 10;

fn main() -> ExitCode {
    if let Some(code) = confine::asked() {
        return code;
    }
    let mut arguments = env::args().skip(1);
    if arguments.next().is_some_and(|first| first == TASK) {
        let words: Vec<String> = arguments.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        return match task(&words) {
            Ok(said) => {
                println!("{said}");
                ExitCode::SUCCESS
            }
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    libtest_mimic::run(&Arguments::from_args(), tests()).exit_code()
}

/// Runs a task in the confined program. Returns its result as text.
fn task(words: &[&str]) -> Result<String, Box<dyn Error>> {
    let said = match words {
        ["read", file] => fs::read_to_string(file)?,
        ["list", folder] => format!("{} entries", fs::read_dir(folder)?.count()),
        ["write", file] => fs::write(file, "written").map(|()| "written".to_owned())?,
        ["append", file] => {
            let mut file = fs::OpenOptions::new().append(true).open(file)?;
            std::io::Write::write_all(&mut file, b"more")?;
            "appended".to_owned()
        }
        ["remove", file] => fs::remove_file(file).map(|()| "removed".to_owned())?,
        ["move", from, to] => fs::rename(from, to).map(|()| "moved".to_owned())?,
        ["link", from, to] => fs::hard_link(from, to).map(|()| "linked".to_owned())?,
        ["lock", file] => {
            let mut rights = fs::metadata(file)?.permissions();
            rights.set_readonly(true);
            fs::set_permissions(file, rights).map(|()| "locked".to_owned())?
        }
        ["length", file, bytes] => {
            fs::write(file, vec![0; bytes.parse()?]).map(|()| "written".to_owned())?
        }
        ["listen"] => TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string(),
        ["connect", address] => TcpStream::connect(address)?.peer_addr()?.to_string(),
        ["send"] => UdpSocket::bind("127.0.0.1:0")?.local_addr()?.to_string(),
        ["start"] => {
            let output = Command::new(env::current_exe()?)
                .args([TASK, "greet"])
                .output()?;
            String::from_utf8(output.stdout)?
        }
        #[cfg(unix)]
        ["group"] => {
            let mut command = Command::new(env::current_exe()?);
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let output = command.args([TASK, "greet"]).output()?;
            String::from_utf8(output.stdout)?
        }
        ["greet"] => "hello".to_owned(),
        ["thread"] => match std::thread::spawn(|| 7).join() {
            Ok(number) => number.to_string(),
            Err(_) => return Err("it panicked".into()),
        },
        ["memory", bytes] => {
            let mut room: Vec<u8> = Vec::new();
            room.try_reserve_exact(bytes.parse()?)?;
            format!("{} bytes", room.capacity())
        }
        ["compute"] => {
            let begun = Instant::now();
            while begun.elapsed().as_secs() < 60 {}
            "done".to_owned()
        }
        ["abort"] => std::process::abort(),
        ["variables"] => env::vars().map(|(name, _)| format!("{name}\n")).collect(),
        _ => return Err("no such task".into()),
    };
    Ok(said)
}

/// A folder with a readable, a writable and an inaccessible subfolder.
struct Place {
    folder: TempDir,
    rules: Rules,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["readable", "writable", "others"] {
            let inner = folder.path().join(name);
            fs::create_dir(&inner).expect("made");
            fs::write(inner.join("file"), name).expect("written");
        }
        let rules = Rules {
            read: vec![folder.path().join("readable"), folder.path().join("absent")],
            write: vec![folder.path().join("writable")],
            execute: system_libraries(),
            devices: vec!["/dev/zero".into()],
            processes: false,
            computing: COMPUTING,
            memory: Some(1 << 30),
            file: 1 << 20,
        };
        Place { folder, rules }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Resolves a word of a task: a relative path with a slash is inside the folder.
    fn word(&self, word: &str) -> String {
        let inside = word.contains('/') && !word.starts_with('/');
        let path = if inside { self.path(word) } else { word.into() };
        path.into_os_string().into_string().expect("UTF-8")
    }

    fn run(&self, task: &[&str]) -> Output {
        let this = env::current_exe().expect("this program");
        let mut command = self.rules.command(this).expect("a command");
        command
            .arg(TASK)
            .args(task.iter().map(|word| self.word(word)));
        command.output().expect("it runs")
    }

    /// Asserts that the task succeeds with this output.
    fn does(&self, task: &[&str], said: &str) -> Result<(), Failed> {
        let output = self.run(task);
        match output.status.success() && text(&output).contains(said) {
            true => Ok(()),
            false => Err(format!("{task:?}: {output:?}").into()),
        }
    }

    /// Asserts that the task fails with this output.
    fn fails(&self, task: &[&str], said: &str) -> Result<(), Failed> {
        let output = self.run(task);
        match output.status.code() == Some(1) && text(&output).contains(said) {
            true => Ok(()),
            false => Err(format!("{task:?}: {output:?}").into()),
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The system's error for files that are denied.
const FILES: &str = "Permission denied";
/// The system's error for calls that are denied.
const CALLS: &str = "Operation not permitted";

fn tests() -> Vec<Trial> {
    let confined = [
        test("what is listed is read", || {
            let place = Place::new();
            place.does(&["read", "readable/file"], "readable")?;
            place.does(&["list", "readable/"], "1 entries")?;
            place.does(&["read", "writable/file"], "writable")
        }),
        test("nothing else is read", || {
            let place = Place::new();
            place.fails(&["read", "others/file"], FILES)?;
            place.fails(&["read", "readable/../others/file"], FILES)?;
            for file in ["/etc/passwd", "/proc/self/environ", "/proc/version"] {
                place.fails(&["read", file], FILES)?;
            }
            for folder in ["others/", "/", "/tmp", "/proc"] {
                place.fails(&["list", folder], FILES)?;
            }
            Ok(())
        }),
        test("a file alone can be listed", || {
            let mut place = Place::new();
            fs::write(place.path("others/second"), "second")?;
            place.rules.read = vec![place.path("others/second")];
            place.does(&["read", "others/second"], "second")?;
            place.fails(&["read", "others/file"], FILES)
        }),
        test(
            "a device that is listed is written to, and no other",
            || {
                let mut place = Place::new();
                place.does(&["append", "/dev/zero"], "appended")?;
                place.fails(&["append", "/dev/full"], FILES)?;
                place.rules.devices.clear();
                place.fails(&["append", "/dev/zero"], FILES)
            },
        ),
        test("what may be written is written", || {
            let place = Place::new();
            place.does(&["write", "writable/new"], "written")?;
            place.does(&["append", "writable/new"], "appended")?;
            place.does(&["move", "writable/new", "writable/newer"], "moved")?;
            place.does(&["remove", "writable/newer"], "removed")
        }),
        test("nothing else is written, moved or removed", || {
            let place = Place::new();
            for file in ["readable/file", "others/file"] {
                place.fails(&["write", file], FILES)?;
                place.fails(&["append", file], FILES)?;
                place.fails(&["remove", file], FILES)?;
                place.fails(&["move", file, "writable/taken"], "os error")?;
                place.fails(&["link", file, "writable/linked"], "os error")?;
                place.fails(&["lock", file], CALLS)?;
                let text = fs::read_to_string(place.path(file))?;
                assert!(file.starts_with(&text), "{file}: {text}");
            }
            place.fails(&["write", "others/new"], FILES)
        }),
        test("there is no network", || {
            let place = Place::new();
            let server = TcpListener::bind("127.0.0.1:0")?;
            let address = server.local_addr()?.to_string();
            place.fails(&["connect", &address], CALLS)?;
            place.fails(&["listen"], CALLS)?;
            place.fails(&["send"], CALLS)
        }),
        test("processes are started by those who may", || {
            let mut place = Place::new();
            place.fails(&["start"], CALLS)?;
            place.does(&["thread"], "7")?;
            place.rules.processes = true;
            place.does(&["start"], "hello")?;
            place.does(&["thread"], "7")?;
            place.does(&["lock", "others/file"], "locked")
        }),
        test("limits hold", || {
            let mut place = Place::new();
            place.fails(&["memory", "2000000000"], "memory")?;
            place.does(&["memory", "1000000"], "1000000 bytes")?;
            place.does(&["length", "writable/short", "1000000"], "written")?;
            let output = place.run(&["length", "writable/long", "2000000"]);
            assert!(!output.status.success(), "{output:?}");
            assert!(fs::metadata(place.path("writable/long"))?.len() <= 1 << 20);
            place.rules.computing = 1;
            let begun = Instant::now();
            let output = place.run(&["compute"]);
            assert_eq!(output.status.code(), None, "{output:?}");
            assert!(begun.elapsed().as_secs() < 30);
            Ok(())
        }),
        test("a program that aborts is seen to", || {
            let output = Place::new().run(&["abort"]);
            match output.status.code() {
                None => Ok(()),
                Some(code) => Err(format!("it ended with {code}").into()),
            }
        }),
        test("who is confined can be confined further", || {
            let mut place = Place::new();
            place.rules.processes = true;
            let inner = Place::new();
            let this = env::current_exe()?;
            place.rules.read.push(inner.path("readable"));
            place.rules.execute.push(this.clone());
            let command = inner.rules.command(&this)?;
            let run = |file: &Path| -> Result<String, Failed> {
                let mut outer = place.rules.command(command.get_program())?;
                outer
                    .args(command.get_args())
                    .args([TASK, "read"])
                    .arg(file);
                Ok(text(&outer.output()?))
            };
            assert_eq!(run(&inner.path("readable/file"))?.trim(), "readable");
            // Each sandbox alone would allow one of these files.
            for file in [inner.path("writable/file"), place.path("readable/file")] {
                let said = run(&file)?;
                assert!(said.contains(FILES), "{}: {said}", file.display());
            }
            Ok(())
        }),
        #[cfg(unix)]
        test("no process leaves its group or reaches another", || {
            let mut place = Place::new();
            place.rules.processes = true;
            place.fails(&["group"], CALLS)?;
            let programs = ["/bin", "/usr/bin"].map(PathBuf::from);
            place.rules.execute.extend(programs);
            let shell = |script: &str| -> Result<Output, Failed> {
                let mut command = place.rules.command("/bin/sh")?;
                Ok(command.args(["-c", script]).output()?)
            };
            let this = std::process::id();
            for script in [
                format!("kill -0 {this}"),
                format!("kill -TERM {this}"),
                "kill -0 1".to_owned(),
                "exec setsid --wait /bin/echo away".to_owned(),
                format!("mkfifo {}", place.path("writable/pipe").display()),
                format!(
                    "touch -d 2001-01-01 {}",
                    place.path("readable/file").display()
                ),
            ] {
                let output = shell(&script)?;
                assert!(!output.status.success(), "{script}: {output:?}");
                assert_eq!(text(&output), "", "{script}: {output:?}");
            }
            Ok(())
        }),
    ];
    let everywhere = [
        Trial::test("the environment has nothing of ours", || {
            let place = Place::new();
            let this = env::current_exe()?;
            let mut command = place.rules.command(this)?;
            let output = command
                .args([TASK, "variables"])
                .env("OURS", "1")
                .output()?;
            let names = text(&output);
            assert!(names.contains("OURS"), "{names}");
            // Cargo sets this variable for its tests.
            assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
            assert!(!names.contains("CARGO"), "{names}");
            assert!(!names.contains("HOME"), "{names}");
            Ok(())
        }),
        Trial::test("a program that is not there is told of", || {
            let place = Place::new();
            let output = place.rules.command("/no/such/program")?.output()?;
            assert_eq!(output.status.code(), Some(confine::CANNOT.into()));
            let said = String::from_utf8(output.stderr)?;
            assert!(said.contains("/no/such/program does not start"), "{said}");
            Ok(())
        }),
        Trial::test("the hidden command is for us alone", || {
            let this = env::current_exe()?;
            let output = Command::new(this).args(["confined", "x"]).output()?;
            assert_eq!(output.status.code(), Some(confine::CANNOT.into()));
            let said = String::from_utf8(output.stderr)?;
            assert!(said.contains("for the program's own use: 'x'"), "{said}");
            Ok(())
        }),
    ];
    confined.into_iter().chain(everywhere).collect()
}

/// Returns a test that needs a system with confinement; elsewhere it is ignored with the reason.
fn test(name: &str, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match kept().reason() {
        Some(why) => Ok(Completion::ignored_with(why)),
        None => test().map(|()| Completion::Completed),
    })
}
