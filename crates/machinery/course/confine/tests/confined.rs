//! Tests of a confined program, which is this test program itself, started again with a task.

use std::env;
use std::error::Error;
use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

use confine::{Rules, support, system_libraries};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tempfile::TempDir;

/// The first argument of a process with a task.
const TASK: &str = "task";

/// The CPU time limit in seconds, unless a test sets another.
const CPU_SECONDS: u64 = 10;

fn main() -> ExitCode {
    if let Some(code) = confine::run_if_child() {
        return code;
    }
    let mut arguments = env::args().skip(1);
    if arguments.next().is_some_and(|first| first == TASK) {
        let words: Vec<String> = arguments.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        return match task(&words) {
            Ok(output) => {
                println!("{output}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    libtest_mimic::run(&Arguments::from_args(), tests()).exit_code()
}

/// Runs a task in the confined program. Returns its result as text.
fn task(words: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = match words {
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
            let mut buffer: Vec<u8> = Vec::new();
            buffer.try_reserve_exact(bytes.parse()?)?;
            format!("{} bytes", buffer.capacity())
        }
        ["compute"] => {
            let start = Instant::now();
            while start.elapsed().as_secs() < 60 {}
            "done".to_owned()
        }
        ["abort"] => std::process::abort(),
        #[cfg(target_os = "linux")]
        ["call", call] => linux_call(call)?.to_string(),
        #[cfg(unix)]
        ["file", number] => {
            // SAFETY: reading a file's flags has no effect.
            let flags = unsafe { libc::fcntl(number.parse()?, libc::F_GETFD) };
            let is_open = if flags < 0 { "closed" } else { "open" };
            is_open.to_owned()
        }
        ["without-names", task @ ..] => {
            confine::forbid_named_files()?;
            std::thread::spawn(|| {})
                .join()
                .map_err(|_| "it panicked")?;
            self::task(task)?
        }
        ["exists", path] => match fs::symlink_metadata(path) {
            Ok(_) => "yes".to_owned(),
            Err(error) => error.to_string(),
        },
        ["folder"] => env::current_dir()?.display().to_string(),
        ["variables"] => env::vars().map(|(name, _)| format!("{name}\n")).collect(),
        _ => return Err("no such task".into()),
    };
    Ok(output)
}

/// Makes a system call that would affect or reveal another process, such as process 1.
#[cfg(target_os = "linux")]
fn linux_call(name: &str) -> Result<i64, Box<dyn Error>> {
    use libc::*;
    const THREAD: c_int = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
    let (number, [first, second, third]) = match name {
        "clone-mounts" => (SYS_clone, [THREAD | CLONE_NEWNS, 0, 0]),
        "clone-network" => (SYS_clone, [THREAD | CLONE_NEWNET, 0, 0]),
        "clone-users" => (SYS_clone, [SIGCHLD | CLONE_NEWUSER, 0, 0]),
        "clone3" => (SYS_clone3, [0, 0, 0]),
        "unshare" => (SYS_unshare, [CLONE_NEWUSER, 0, 0]),
        "setns" => (SYS_setns, [0, 0, 0]),
        "owner" => (SYS_fcntl, [1, F_SETOWN, 1]),
        "owner-of-kind" => (SYS_fcntl, [1, 15, 0]),
        "signal-of-file" => (SYS_fcntl, [1, 10, SIGKILL]),
        "lease" => (SYS_fcntl, [1, F_SETLEASE, F_RDLCK]),
        "group" => (SYS_getpgid, [1, 0, 0]),
        "session" => (SYS_getsid, [1, 0, 0]),
        "priority" => (SYS_getpriority, [PRIO_PROCESS as c_int, 1, 0]),
        "processors" => (SYS_sched_getaffinity, [1, 0, 0]),
        "policy" => (SYS_sched_getscheduler, [1, 0, 0]),
        "cookie" => (SYS_prctl, [62, 0, 1]),
        "signal" => (SYS_kill, [1, 0, 0]),
        "own-group" => (SYS_getpgid, [0, 0, 0]),
        "flags" => (SYS_fcntl, [1, F_GETFL, 0]),
        _ => return Err("no such call".into()),
    };
    // SAFETY: the arguments are numbers or null pointers. A thread without a stack of its own is never started, because
    // the calls with these flags are denied.
    match unsafe { syscall(number, first, second, third, 0, 0) } {
        -1 => Err(std::io::Error::last_os_error().into()),
        result => Ok(result),
    }
}

/// A folder with a readable, a writable and an inaccessible subfolder.
struct Sandbox {
    folder: TempDir,
    rules: Rules,
}

impl Sandbox {
    fn new() -> Sandbox {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["readable", "writable", "others"] {
            let inner = folder.path().join(name);
            fs::create_dir(&inner).expect("the folder can be created");
            fs::write(inner.join("file"), name).expect("the file can be written");
        }
        let rules = Rules {
            read: vec![folder.path().join("readable"), folder.path().join("absent")],
            write: vec![folder.path().join("writable")],
            execute: system_libraries(),
            devices: vec!["/dev/zero".into()],
            processes: false,
            cpu_seconds: CPU_SECONDS,
            memory: Some(1 << 30),
            file: 1 << 20,
        };
        Sandbox { folder, rules }
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
        command.output().expect("the program can be run")
    }

    /// Asserts that the task succeeds with this output.
    fn succeeds(&self, task: &[&str], expected: &str) -> Result<(), Failed> {
        let output = self.run(task);
        match output.status.success() && text(&output).contains(expected) {
            true => Ok(()),
            false => Err(format!("{task:?}: {output:?}").into()),
        }
    }

    /// Asserts that the task fails with this output.
    fn fails(&self, task: &[&str], expected: &str) -> Result<(), Failed> {
        let output = self.run(task);
        match output.status.code() == Some(1) && text(&output).contains(expected) {
            true => Ok(()),
            false => Err(format!("{task:?}: {output:?}").into()),
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The system's error for files that are denied.
const FILE_DENIED: &str = "Permission denied";
/// The system's error for calls that are not listed.
#[cfg(target_os = "linux")]
const CALL_UNKNOWN: &str = "Function not implemented";
/// The system's error for calls that are denied.
const CALL_DENIED: &str = "Operation not permitted";

fn tests() -> Vec<Trial> {
    let confined = [
        test("listed files can be read", || {
            let sandbox = Sandbox::new();
            sandbox.succeeds(&["read", "readable/file"], "readable")?;
            sandbox.succeeds(&["list", "readable/"], "1 entries")?;
            sandbox.succeeds(&["read", "writable/file"], "writable")
        }),
        test("unlisted files cannot be read", || {
            let sandbox = Sandbox::new();
            sandbox.fails(&["read", "others/file"], FILE_DENIED)?;
            sandbox.fails(&["read", "readable/../others/file"], FILE_DENIED)?;
            for file in ["/etc/passwd", "/proc/self/environ", "/proc/version"] {
                sandbox.fails(&["read", file], FILE_DENIED)?;
            }
            for folder in ["others/", "/", "/tmp", "/proc"] {
                sandbox.fails(&["list", folder], FILE_DENIED)?;
            }
            Ok(())
        }),
        test("a single file can be listed", || {
            let mut sandbox = Sandbox::new();
            fs::write(sandbox.path("others/second"), "second")?;
            sandbox.rules.read = vec![sandbox.path("others/second")];
            sandbox.succeeds(&["read", "others/second"], "second")?;
            sandbox.fails(&["read", "others/file"], FILE_DENIED)
        }),
        test("only listed devices can be written", || {
            let mut sandbox = Sandbox::new();
            sandbox.succeeds(&["append", "/dev/zero"], "appended")?;
            sandbox.fails(&["append", "/dev/full"], FILE_DENIED)?;
            sandbox.rules.devices.clear();
            sandbox.fails(&["append", "/dev/zero"], FILE_DENIED)
        }),
        test("writable folders can be written", || {
            let sandbox = Sandbox::new();
            sandbox.succeeds(&["write", "writable/new"], "written")?;
            sandbox.succeeds(&["append", "writable/new"], "appended")?;
            sandbox.succeeds(&["move", "writable/new", "writable/newer"], "moved")?;
            sandbox.succeeds(&["remove", "writable/newer"], "removed")
        }),
        test("other files cannot be written, moved or removed", || {
            let sandbox = Sandbox::new();
            for file in ["readable/file", "others/file"] {
                sandbox.fails(&["write", file], FILE_DENIED)?;
                sandbox.fails(&["append", file], FILE_DENIED)?;
                sandbox.fails(&["remove", file], FILE_DENIED)?;
                sandbox.fails(&["move", file, "writable/taken"], "os error")?;
                sandbox.fails(&["link", file, "writable/linked"], "os error")?;
                sandbox.fails(&["lock", file], CALL_DENIED)?;
                let text = fs::read_to_string(sandbox.path(file))?;
                assert!(file.starts_with(&text), "{file}: {text}");
            }
            sandbox.fails(&["write", "others/new"], FILE_DENIED)
        }),
        test("the network is unavailable", || {
            let sandbox = Sandbox::new();
            let server = TcpListener::bind("127.0.0.1:0")?;
            let address = server.local_addr()?.to_string();
            sandbox.fails(&["connect", &address], CALL_DENIED)?;
            sandbox.fails(&["listen"], CALL_DENIED)?;
            sandbox.fails(&["send"], CALL_DENIED)
        }),
        test("only permitted programs can start processes", || {
            let mut sandbox = Sandbox::new();
            sandbox.fails(&["start"], CALL_DENIED)?;
            sandbox.succeeds(&["thread"], "7")?;
            sandbox.rules.processes = true;
            sandbox.succeeds(&["start"], "hello")?;
            sandbox.succeeds(&["thread"], "7")?;
            sandbox.succeeds(&["lock", "others/file"], "locked")
        }),
        test("limits are enforced", || {
            let mut sandbox = Sandbox::new();
            sandbox.fails(&["memory", "2000000000"], "memory")?;
            sandbox.succeeds(&["memory", "1000000"], "1000000 bytes")?;
            sandbox.succeeds(&["length", "writable/short", "1000000"], "written")?;
            let output = sandbox.run(&["length", "writable/long", "2000000"]);
            assert!(!output.status.success(), "{output:?}");
            assert!(fs::metadata(sandbox.path("writable/long"))?.len() <= 1 << 20);
            sandbox.rules.cpu_seconds = 1;
            let start = Instant::now();
            let output = sandbox.run(&["compute"]);
            assert_eq!(output.status.code(), None, "{output:?}");
            assert!(start.elapsed().as_secs() < 30);
            Ok(())
        }),
        test("an abort is reported", || {
            let output = Sandbox::new().run(&["abort"]);
            match output.status.code() {
                None => Ok(()),
                Some(code) => Err(format!("it ended with {code}").into()),
            }
        }),
        test("a confined program can be confined further", || {
            let mut sandbox = Sandbox::new();
            sandbox.rules.processes = true;
            let inner = Sandbox::new();
            let this = env::current_exe()?;
            sandbox.rules.read.push(inner.path("readable"));
            sandbox.rules.execute.push(this.clone());
            let command = inner.rules.command(&this)?;
            let run = |file: &Path| -> Result<String, Failed> {
                let mut outer = sandbox.rules.command(command.get_program())?;
                outer
                    .args(command.get_args())
                    .args([TASK, "read"])
                    .arg(file);
                Ok(text(&outer.output()?))
            };
            assert_eq!(run(&inner.path("readable/file"))?.trim(), "readable");
            // Each sandbox alone would allow one of these files.
            for file in [inner.path("writable/file"), sandbox.path("readable/file")] {
                let output = run(&file)?;
                assert!(output.contains(FILE_DENIED), "{}: {output}", file.display());
            }
            Ok(())
        }),
        test(
            "files that have no name remain usable without names",
            || {
                let sandbox = Sandbox::new();
                let this = std::process::id();
                sandbox.succeeds(&["exists", &format!("/proc/{this}")], "yes")?;
                sandbox.succeeds(&["without-names", "greet"], "hello")?;
                for path in [&format!("/proc/{this}"), "/etc/passwd", "/no/such/file"] {
                    sandbox.succeeds(&["without-names", "exists", path], CALL_DENIED)?;
                    sandbox.fails(&["without-names", "read", path], CALL_DENIED)?;
                }
                sandbox.fails(&["without-names", "read", "readable/file"], CALL_DENIED)?;
                sandbox.fails(&["without-names", "write", "writable/new"], CALL_DENIED)?;
                sandbox.fails(&["without-names", "folder"], CALL_DENIED)
            },
        ),
        #[cfg(target_os = "linux")]
        test(
            "other processes do not show, and there are no new namespaces",
            || {
                let mut sandbox = Sandbox::new();
                for processes in [false, true] {
                    sandbox.rules.processes = processes;
                    for call in [
                        "clone-mounts",
                        "clone-network",
                        "clone-users",
                        "clone3",
                        "unshare",
                        "setns",
                        "owner",
                        "owner-of-kind",
                        "signal-of-file",
                        "lease",
                        "group",
                        "session",
                        "priority",
                        "processors",
                        "policy",
                        "cookie",
                        "signal",
                    ] {
                        sandbox.fails(&["call", call], "os error")?;
                        let output = text(&sandbox.run(&["call", call]));
                        let is_denied =
                            output.contains(CALL_DENIED) || output.contains(CALL_UNKNOWN);
                        assert!(is_denied, "{call}: {output}");
                    }
                    sandbox.succeeds(&["call", "own-group"], "")?;
                    sandbox.succeeds(&["call", "flags"], "")?;
                }
                Ok(())
            },
        ),
        #[cfg(unix)]
        test("no process leaves its group or reaches another", || {
            let mut sandbox = Sandbox::new();
            sandbox.rules.processes = true;
            sandbox.fails(&["group"], CALL_DENIED)?;
            let programs = ["/bin", "/usr/bin"].map(PathBuf::from);
            sandbox.rules.execute.extend(programs);
            let shell = |script: &str| -> Result<Output, Failed> {
                let mut command = sandbox.rules.command("/bin/sh")?;
                Ok(command.args(["-c", script]).output()?)
            };
            let this = std::process::id();
            for script in [
                format!("kill -0 {this}"),
                format!("kill -TERM {this}"),
                "kill -0 1".to_owned(),
                "exec setsid --wait /bin/echo away".to_owned(),
                format!("mkfifo {}", sandbox.path("writable/pipe").display()),
                format!(
                    "touch -d 2001-01-01 {}",
                    sandbox.path("readable/file").display()
                ),
            ] {
                let output = shell(&script)?;
                assert!(!output.status.success(), "{script}: {output:?}");
                assert_eq!(text(&output), "", "{script}: {output:?}");
            }
            Ok(())
        }),
    ];
    let unrestricted = [
        Trial::test("the environment is not inherited", || {
            let sandbox = Sandbox::new();
            let this = env::current_exe()?;
            let mut command = sandbox.rules.command(this)?;
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
        #[cfg(unix)]
        Trial::test("open files are not inherited", || {
            let sandbox = Sandbox::new();
            let this = env::current_exe()?;
            let command = sandbox.rules.command(&this)?;
            for (number, state) in [
                ("0", "open"),
                ("1", "open"),
                ("7", "closed"),
                ("8", "closed"),
            ] {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", "exec \"$0\" \"$@\" 7>>\"$KEPT\" 8<\"$KEPT\""]);
                shell.env("KEPT", sandbox.path("others/file"));
                shell.arg(command.get_program()).args(command.get_args());
                let output = shell.args([TASK, "file", number]).output()?;
                assert_eq!(text(&output).trim(), state, "{number}: {output:?}");
            }
            Ok(())
        }),
        #[cfg(unix)]
        Trial::test("a lower limit than the rules promise is reported", || {
            let sandbox = Sandbox::new();
            let command = sandbox.rules.command(env::current_exe()?)?;
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "ulimit -t 1; exec \"$0\" \"$@\""]);
            shell.arg(command.get_program()).args(command.get_args());
            let output = shell.args([TASK, "greet"]).output()?;
            assert_eq!(output.status.code(), Some(confine::EXIT_NOT_STARTED.into()));
            let message = String::from_utf8(output.stderr)?;
            assert!(
                message.contains("limits the CPU time in seconds to 1, but 10"),
                "{message}"
            );
            Ok(())
        }),
        Trial::test("a missing program is reported", || {
            let sandbox = Sandbox::new();
            let output = sandbox.rules.command("/no/such/program")?.output()?;
            assert_eq!(output.status.code(), Some(confine::EXIT_NOT_STARTED.into()));
            let message = String::from_utf8(output.stderr)?;
            assert!(
                message.contains("cannot start /no/such/program"),
                "{message}"
            );
            Ok(())
        }),
        Trial::test("the hidden command rejects other uses", || {
            let this = env::current_exe()?;
            let output = Command::new(this).args(["confined", "x"]).output()?;
            assert_eq!(output.status.code(), Some(confine::EXIT_NOT_STARTED.into()));
            let message = String::from_utf8(output.stderr)?;
            assert!(
                message.contains("this command is internal: 'x'"),
                "{message}"
            );
            Ok(())
        }),
    ];
    confined.into_iter().chain(unrestricted).collect()
}

/// Returns a test that needs a system with confinement; elsewhere it is ignored with the reason.
fn test(name: &str, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match support().reason() {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => test().map(|()| Completion::Completed),
    })
}
