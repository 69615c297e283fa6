//! Correct submissions that try to access files, the network or other processes. Each panics if an attempt
//! succeeds, and passes if all fail.

use crate::Attempt;

/// Items of these submissions: `once` runs the attempts once, and `assert_denied` panics if an attempt
/// succeeded.
pub const ITEMS: &str = r#"
use std::fs;
use std::fmt::Debug;
use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
fn assert_denied<T: Debug, E: Debug>(what: &str, result: Result<T, E>) {
    if let Ok(worked) = result { panic!("this worked: {what}: {worked:?}"); }
}
fn once(work: fn()) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(work);
}
"#;

const fn attempts(name: &'static str, statements: &'static str) -> Attempt {
    Attempt::passes(name, statements).with_items(ITEMS)
}

pub const ATTEMPTS: &[Attempt] = &[
    attempts(
        "reading files of others",
        r#"once(|| {
        assert_denied("the teacher's file", fs::read("FOLDER/teacher.txt"));
        assert_denied("another student's submission", fs::read("FOLDER/ann/03-blocks.rs"));
        assert_denied("its own submission", fs::read("FOLDER/answers/eve.rs"));
        assert_denied("the results", fs::read("FOLDER/results/class.json"));
        assert_denied("a solution", fs::read("CHECKOUT/kernels/exercises/03-blocks/solution.rs"));
        assert_denied("the course's library", fs::read("COURSE.RLIB"));
        assert_denied("users", fs::read("/etc/passwd"));
        assert_denied("the host's name", fs::read("/etc/hostname"));
        assert_denied("a random device", fs::read("/dev/urandom").map(|_| ()));
        assert_denied("the list of students", fs::read_dir("FOLDER").map(|_| ()));
        assert_denied("the root", fs::read_dir("/").map(|_| ()));
        assert_denied("temporary files", fs::read_dir(std::env::temp_dir()).map(|_| ()));
        assert_denied("its folder", fs::read_dir(".").map(|_| ()));
        assert_denied("its source", fs::read("student.rs"));
        assert_denied("the libraries' folder", fs::read_dir("libraries").map(|_| ()));
    });"#,
    ),
    attempts(
        "reading system information",
        r#"once(|| {
        assert_denied("its memory", fs::File::open("/proc/self/mem"));
        assert_denied("its maps", fs::read("/proc/self/maps"));
        assert_denied("its first environment", fs::read("/proc/self/environ"));
        assert_denied("its files", fs::read_dir("/proc/self/fd").map(|_| ()));
        assert_denied("all processes", fs::read_dir("/proc").map(|_| ()));
        let parent = std::os::unix::process::parent_id();
        for file in ["mem", "maps", "environ", "cmdline", "fd/0", "fd/1", "root/etc/passwd", "cwd/teacher.txt"] {
            assert_denied(file, fs::File::open(format!("/proc/{parent}/{file}")));
        }
        for process in [1, std::process::id(), parent] {
            assert_denied("a process", fs::metadata(format!("/proc/{process}")));
        }
        assert_denied("which files exist", fs::metadata("FOLDER/teacher.txt"));
        assert_denied("mounts", fs::read("/proc/mounts"));
        assert_denied("the kernel's settings", fs::read("/sys/kernel/mm/transparent_hugepage/enabled"));
    });"#,
    ),
    attempts(
        "writing files of others",
        r#"once(|| {
        assert_denied("another student's submission", fs::write("FOLDER/ann/03-blocks.rs", "spoilt"));
        assert_denied("its own submission", fs::write("FOLDER/answers/eve.rs", "better"));
        assert_denied("the results", fs::write("FOLDER/results/class.json", "{\"eve\": \"passed\"}"));
        assert_denied("more results", fs::OpenOptions::new().append(true).open("FOLDER/results/class.json"));
        assert_denied("emptying them", fs::OpenOptions::new().write(true).truncate(true).open("FOLDER/results/class.json"));
        assert_denied("removing them", fs::remove_file("FOLDER/results/class.json"));
        assert_denied("moving them", fs::rename("FOLDER/results/class.json", "FOLDER/results/old.json"));
        assert_denied("removing all", fs::remove_dir_all("FOLDER/ann"));
        assert_denied("rights", fs::set_permissions("FOLDER/results", fs::Permissions::from_mode(0o777)));
        assert_denied("the program that grades", fs::OpenOptions::new().write(true).open("COURSE.RLIB"));
    });"#,
    ),
    attempts(
        "leaving files behind",
        r#"once(|| {
        assert_denied("a file", fs::write("FOLDER/left-behind", "x"));
        assert_denied("a folder", fs::create_dir("FOLDER/left"));
        assert_denied("a link", symlink("/etc/passwd", "FOLDER/link"));
        assert_denied("a hard link", fs::hard_link("FOLDER/teacher.txt", "FOLDER/copy"));
        assert_denied("a copy", fs::copy("FOLDER/teacher.txt", "FOLDER/copy"));
        assert_denied("a temporary file", fs::write(std::env::temp_dir().join("left-behind"), "x"));
        assert_denied("shared memory", fs::write("/dev/shm/left-behind", "x"));
        assert_denied("its own folder", fs::write("left-behind", "x"));
        assert_denied("its own program", std::env::current_exe().and_then(|me| fs::OpenOptions::new().write(true).open(me)));
        assert_denied("removing itself", std::env::current_exe().and_then(fs::remove_file));
        assert_denied("the home folder", fs::write("/root/left-behind", "x"));
        assert_denied("a socket", UnixListener::bind("FOLDER/socket"));
        assert_denied("a terminal", fs::OpenOptions::new().write(true).open("/dev/tty"));
    });"#,
    ),
    attempts(
        "the network",
        r#"once(|| {
        assert_denied("a connection", TcpStream::connect("127.0.0.1:PORT"));
        assert_denied("one within a time", TcpStream::connect_timeout(&"127.0.0.1:PORT".parse().unwrap(), Duration::from_secs(1)));
        assert_denied("the newer protocol", TcpStream::connect("[::1]:PORT"));
        assert_denied("a port", TcpListener::bind("127.0.0.1:0"));
        assert_denied("a message", UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.send_to(b"x", "127.0.0.1:PORT")));
        assert_denied("a socket with a name", UnixStream::connect("/run/systemd/journal/stdout"));
        assert_denied("a nameless one", UnixDatagram::unbound());
        assert_denied("a pair", UnixStream::pair());
        assert_denied("a name", std::net::ToSocketAddrs::to_socket_addrs("example.org:80").map(|_| ()));
    });"#,
    ),
    attempts(
        "other programs",
        r#"once(|| {
        let quiet = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        assert_denied("a shell", quiet("/bin/sh", &["-c", "id > FOLDER/left-behind"]).status());
        assert_denied("a daemon", quiet("setsid", &["-f", "sh", "-c", "sleep 1; id > FOLDER/left-behind"]).status());
        assert_denied("one in a group of its own", quiet("sleep", &["5"]).process_group(0).spawn());
        assert_denied("itself", quiet("/proc/self/exe", &[]).spawn());
        assert_denied("itself by name", quiet("./answer", &[]).spawn());
        assert_denied("the course", quiet("CHECKOUT/target/debug/exercises", &["solution", "03"]).spawn());
        assert_denied("a signal", quiet("kill", &["-9", &std::os::unix::process::parent_id().to_string()]).status());
        let error = Command::new("/bin/sh").args(["-c", "id > FOLDER/left-behind"]).exec();
        assert_denied("becoming a shell", Err::<(), _>(error));
    });"#,
    ),
    attempts(
        "the environment",
        r#"once(|| {
        for (name, value) in std::env::vars_os() {
            let (name, value) = (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned());
            let allowed = ["CUDA_BACKEND", "CUDA_SIM_TIME_LIMIT", "CUDA_SIM_DEVICE", "RAYON_NUM_THREADS"];
            assert!(allowed.contains(&name.as_str()), "a variable: {name}={value}");
        }
        assert!(std::env::args().eq(["./answer"]), "arguments: {:?}", std::env::args());
        assert_denied("its folder", std::env::current_dir());
        assert_denied("its path", std::env::current_exe());
    });"#,
    ),
    attempts(
        "file times and open files",
        r#"once(|| {
        let later = SystemTime::now() + Duration::from_secs(1000);
        assert_denied("a time", fs::File::open("FOLDER/teacher.txt").and_then(|file| file.set_modified(later)));
        assert_denied("its program's time", fs::File::open("./answer").and_then(|file| file.set_modified(later)));
        let _ = std::io::stderr().write_all(b"unread output");
        assert_denied("another folder", std::env::set_current_dir("FOLDER").and_then(|()| fs::read("teacher.txt")));
    });"#,
    ),
];
