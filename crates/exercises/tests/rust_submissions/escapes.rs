//! Correct submissions that try to access files, the network or other processes. Each panics if an attempt
//! succeeds, and passes if all fail.

use crate::Attempt;

/// Items of these submissions: `once` runs the attempts once, and `held` panics if an attempt succeeded.
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
fn held<T: Debug, E: Debug>(what: &str, result: Result<T, E>) {
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
        "reading what others have",
        r#"once(|| {
        held("the teacher's file", fs::read("FOLDER/teacher.txt"));
        held("another's answer", fs::read("FOLDER/ann/03-blocks.rs"));
        held("its own answer", fs::read("FOLDER/answers/eve.rs"));
        held("the results", fs::read("FOLDER/results/class.json"));
        held("a solution", fs::read("CHECKOUT/kernels/exercises/03-blocks/solution.rs"));
        held("the course's library", fs::read("COURSE.RLIB"));
        held("users", fs::read("/etc/passwd"));
        held("the host's name", fs::read("/etc/hostname"));
        held("a random device", fs::read("/dev/urandom").map(|_| ()));
        held("who is there", fs::read_dir("FOLDER").map(|_| ()));
        held("the root", fs::read_dir("/").map(|_| ()));
        held("temporary files", fs::read_dir(std::env::temp_dir()).map(|_| ()));
        held("its folder", fs::read_dir(".").map(|_| ()));
        held("its source", fs::read("student.rs"));
        held("the libraries' folder", fs::read_dir("libraries").map(|_| ()));
    });"#,
    ),
    attempts(
        "reading what the system knows",
        r#"once(|| {
        held("its memory", fs::File::open("/proc/self/mem"));
        held("its maps", fs::read("/proc/self/maps"));
        held("its first environment", fs::read("/proc/self/environ"));
        held("its files", fs::read_dir("/proc/self/fd").map(|_| ()));
        held("all processes", fs::read_dir("/proc").map(|_| ()));
        let parent = std::os::unix::process::parent_id();
        for file in ["mem", "maps", "environ", "cmdline", "fd/0", "fd/1", "root/etc/passwd", "cwd/teacher.txt"] {
            held(file, fs::File::open(format!("/proc/{parent}/{file}")));
        }
        held("mounts", fs::read("/proc/mounts"));
        held("the kernel's settings", fs::read("/sys/kernel/mm/transparent_hugepage/enabled"));
    });"#,
    ),
    attempts(
        "writing what others have",
        r#"once(|| {
        held("another's answer", fs::write("FOLDER/ann/03-blocks.rs", "spoilt"));
        held("its own answer", fs::write("FOLDER/answers/eve.rs", "better"));
        held("the results", fs::write("FOLDER/results/class.json", "{\"eve\": \"passed\"}"));
        held("more results", fs::OpenOptions::new().append(true).open("FOLDER/results/class.json"));
        held("emptying them", fs::OpenOptions::new().write(true).truncate(true).open("FOLDER/results/class.json"));
        held("removing them", fs::remove_file("FOLDER/results/class.json"));
        held("moving them", fs::rename("FOLDER/results/class.json", "FOLDER/results/old.json"));
        held("removing all", fs::remove_dir_all("FOLDER/ann"));
        held("rights", fs::set_permissions("FOLDER/results", fs::Permissions::from_mode(0o777)));
        held("the program that grades", fs::OpenOptions::new().write(true).open("COURSE.RLIB"));
    });"#,
    ),
    attempts(
        "leaving files behind",
        r#"once(|| {
        held("a file", fs::write("FOLDER/left-behind", "x"));
        held("a folder", fs::create_dir("FOLDER/left"));
        held("a link", symlink("/etc/passwd", "FOLDER/link"));
        held("a hard link", fs::hard_link("FOLDER/teacher.txt", "FOLDER/copy"));
        held("a copy", fs::copy("FOLDER/teacher.txt", "FOLDER/copy"));
        held("a temporary file", fs::write(std::env::temp_dir().join("left-behind"), "x"));
        held("shared memory", fs::write("/dev/shm/left-behind", "x"));
        held("its own folder", fs::write("left-behind", "x"));
        held("its own program", std::env::current_exe().and_then(|me| fs::OpenOptions::new().write(true).open(me)));
        held("removing itself", std::env::current_exe().and_then(fs::remove_file));
        held("the home folder", fs::write("/root/left-behind", "x"));
        held("a socket", UnixListener::bind("FOLDER/socket"));
        held("a terminal", fs::OpenOptions::new().write(true).open("/dev/tty"));
    });"#,
    ),
    attempts(
        "the network",
        r#"once(|| {
        held("a connection", TcpStream::connect("127.0.0.1:PORT"));
        held("one within a time", TcpStream::connect_timeout(&"127.0.0.1:PORT".parse().unwrap(), Duration::from_secs(1)));
        held("the newer protocol", TcpStream::connect("[::1]:PORT"));
        held("a port", TcpListener::bind("127.0.0.1:0"));
        held("a message", UdpSocket::bind("0.0.0.0:0").and_then(|it| it.send_to(b"x", "127.0.0.1:PORT")));
        held("a socket with a name", UnixStream::connect("/run/systemd/journal/stdout"));
        held("a nameless one", UnixDatagram::unbound());
        held("a pair", UnixStream::pair());
        held("a name", std::net::ToSocketAddrs::to_socket_addrs("example.org:80").map(|_| ()));
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
        held("a shell", quiet("/bin/sh", &["-c", "id > FOLDER/left-behind"]).status());
        held("a daemon", quiet("setsid", &["-f", "sh", "-c", "sleep 1; id > FOLDER/left-behind"]).status());
        held("one in a group of its own", quiet("sleep", &["5"]).process_group(0).spawn());
        held("itself", quiet("/proc/self/exe", &[]).spawn());
        held("itself by name", Command::new(std::env::current_exe().unwrap()).spawn());
        held("the course", quiet("CHECKOUT/target/debug/exercises", &["solution", "03"]).spawn());
        held("a signal", quiet("kill", &["-9", &std::os::unix::process::parent_id().to_string()]).status());
        let why = Command::new("/bin/sh").args(["-c", "id > FOLDER/left-behind"]).exec();
        held("becoming a shell", Err::<(), _>(why));
    });"#,
    ),
    attempts(
        "the environment",
        r#"once(|| {
        for (name, value) in std::env::vars_os() {
            let (name, value) = (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned());
            let known = ["PATH", "CUDA_BACKEND", "CUDA_SIM_TIME_LIMIT", "CUDA_SIM_DEVICE", "RAYON_NUM_THREADS", "LD_LIBRARY_PATH", "TEMP", "TMP"];
            assert!(known.contains(&name.as_str()), "a variable: {name}={value}");
        }
        assert!(std::env::args().count() == 1, "arguments: {:?}", std::env::args());
    });"#,
    ),
    attempts(
        "times and files that are open",
        r#"once(|| {
        let later = SystemTime::now() + Duration::from_secs(1000);
        held("a time", fs::File::open("FOLDER/teacher.txt").and_then(|file| file.set_modified(later)));
        held("its program's time", fs::File::open(std::env::current_exe().unwrap()).and_then(|file| file.set_modified(later)));
        let _ = std::io::stderr().write_all(b"nobody reads this");
        held("another folder", std::env::set_current_dir("FOLDER").and_then(|()| fs::read("teacher.txt")));
    });"#,
    ),
];
