//! Compilation of Rust submissions, each of which must be a single file. The compiler must be the one that compiled the
//! course, because no other can read the course's libraries.
//!
//! A submission is compiled with `answers` and its dependencies. Cargo leaves all libraries in one folder, including the
//! course's own, which contain the solutions. Therefore those of `answers` are linked into a separate folder.

use std::collections::HashSet;
use std::env::consts::EXE_SUFFIX;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::SystemTime;
use std::{env, fs};

use anyhow::{Context as _, Result, anyhow, bail};
use chapter::lang::{Lang, Text};
use confine::Rules;

use crate::process::{explain_outside, explain_status, is_signal};
use crate::worker::Job;

/// The maximum length of the compiler's messages in bytes. The first error is what matters.
const MAX_MESSAGES: u64 = 20_000;

/// The folders in which Linux has compilers, linkers and their parts.
const TOOLS: [&str; 5] = [
    "/bin",
    "/usr/bin",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/include",
];

/// A compilation in a folder with everything that it needs.
struct Build<'a> {
    job: &'a Job,
    folder: &'a Path,
    compiler: Compiler,
    libraries: Libraries,
}

/// The folder, within that of the compilation, with the program and nothing else.
pub const PROGRAM_FOLDER: &str = "program";

/// Compiles the program around a submission in `folder`. Returns the name of its file in [`PROGRAM_FOLDER`], or the
/// message for the student.
pub fn compile(job: &Job, main: &str, folder: &Path) -> Result<Result<String, Text>> {
    let lang = job.lang;
    let build = Build {
        job,
        folder,
        compiler: Compiler::find(lang)?,
        libraries: gather(folder.join("libraries"), lang)?,
    };
    for (file, text) in SOURCES.iter().zip([main, &job.text]) {
        fs::write(folder.join(file), text)?;
    }
    fs::create_dir(folder.join(PROGRAM_FOLDER))?;
    let program = format!("answer{EXE_SUFFIX}");
    let mut rustc = build.rustc()?;
    rustc
        .arg(format!(
            "--remap-path-prefix={}={}",
            SOURCES[1], job.display_name
        ))
        .arg(format!(
            "--emit=link={PROGRAM_FOLDER}/{program},dep-info=answer.d"
        ))
        .arg(SOURCES[0]);
    let (status, messages) = build.run(rustc)?;
    if status.success() {
        let foreign = foreign_inputs(&folder.join("answer.d"))?;
        return Ok(match foreign {
            Some(message) => Err(message),
            None => Ok(program),
        });
    }
    if untrusted::is_from_outside(status) {
        bail!(explain_outside(status, lang));
    }
    // An error of the submission has a location; others are those of the linker, of files, or of the compiler itself.
    let has_location = messages
        .lines()
        .any(|line| line.trim_start().starts_with("--> "));
    // A crash is the submission's fault if another program can be compiled.
    build.verify_libraries()?;
    if !has_location && (status.code() == Some(1) || untrusted::names_missing_resource(&messages)) {
        bail!(localize!(
            lang,
            "rustc failed for a reason outside the submission: {}",
            "rustc 因答案以外的原因失败：{}";
            messages.lines().find(|line| !line.is_empty()).unwrap_or_default()
        ));
    }
    if let Some(message) = unreadable_input(&messages) {
        return Ok(Err(message));
    }
    let messages = |lang| match messages.trim_end() {
        _ if is_signal(status) => explain_status(status, &job.limits, lang),
        "" => status.to_string(),
        messages => messages.to_owned(),
    };
    Ok(Err(Text::from_fn(|lang| {
        localize!(
            lang,
            "rustc cannot compile it. Start with the first error: line, column, and the code that \
             it points to.\n\n{}",
            "rustc 未能编译通过。请从第一条错误看起：行号、列号，以及它所指的位置。\n\n{}";
            messages(lang)
        )
    })))
}

impl Build<'_> {
    /// Builds rustc's command within limits. It may open the two source files, the libraries and the
    /// compilers' folders. Where the system cannot enforce that, the list of the files that it read is
    /// checked afterwards.
    fn rustc(&self) -> Result<Command> {
        let Build {
            job,
            folder,
            compiler,
            libraries,
        } = self;
        let tools = TOOLS.iter().map(PathBuf::from);
        let mut execute: Vec<PathBuf> = tools.chain(confine::system_libraries()).collect();
        execute.push(compiler.sysroot.clone());
        let rules = Rules {
            read: libraries.files.clone(),
            write: vec![folder.to_path_buf()],
            execute,
            processes: true,
            ..job.limits.rules()
        };
        let mut rustc = rules.command(&compiler.program)?;
        for variable in ["TMPDIR", "TMP", "TEMP"] {
            rustc.env(variable, folder);
        }
        rustc
            .current_dir(folder)
            .args(["--edition=2024", "--crate-name=answer", "--color=never"])
            .args(["-Cdebuginfo=0", "-Cstrip=debuginfo", "-Ccodegen-units=1"])
            .arg(format!("-Ldependency={}", libraries.folder.display()))
            .arg(format!("--extern=answers={}", libraries.answers.display()))
            .stdin(Stdio::null());
        Ok(rustc)
    }

    /// Runs the compiler. Returns its exit status and messages.
    fn run(&self, mut rustc: Command) -> Result<(ExitStatus, String)> {
        let program = self.compiler.program.display();
        let context = || localize!(self.job.lang, "cannot run {}", "无法运行 {}"; program);
        let child = rustc.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.with_context(context)?;
        let mut messages = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            let mut beginning = stderr.take(MAX_MESSAGES);
            beginning.read_to_end(&mut messages)?;
            io::copy(&mut beginning.into_inner(), &mut io::sink())?;
        }
        let status = child.wait()?;
        Ok((status, String::from_utf8_lossy(&messages).into_owned()))
    }

    /// Checks that any program compiles with the libraries; if none does, the submission is not at fault.
    ///
    /// # Errors
    ///
    /// Fails if the libraries and the compiler do not belong together.
    fn verify_libraries(&self) -> Result<()> {
        let lang = self.job.lang;
        fs::write(self.folder.join("nothing.rs"), "pub use answers as _;")?;
        let mut rustc = self.rustc()?;
        rustc.args(["--crate-type=lib", "--emit=metadata", "nothing.rs"]);
        let (status, messages) = self.run(rustc)?;
        if status.success() {
            return Ok(());
        }
        if let Some(reason) = self.compiler.too_old(lang)? {
            bail!(reason);
        }
        bail!(localize!(
            lang,
            "Rust submissions are compiled against {}, which no longer matches the libraries next \
             to it: rebuild the course with cargo ({})",
            "用 Rust 写的答案要与 {} 一起编译，而它与同一文件夹中的库已不一致：请用 cargo \
             重新构建课程（{}）";
            self.libraries.files[0].display(), messages.lines().next().unwrap_or_default()
        ))
    }
}

/// The sysroot of the compiler that built the course.
const SYSROOT: &str = env!("EXERCISES_SYSROOT");

/// The minimum version that the course compiles with.
const MIN_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// A Rust compiler.
struct Compiler {
    /// The path of `rustc`.
    program: PathBuf,
    /// The sysroot with its libraries.
    sysroot: PathBuf,
}

impl Compiler {
    /// Finds the compiler named by `RUSTC`, else the one that built the course, else the installed one.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    fn find(lang: Lang) -> Result<Compiler> {
        let named = env::var_os("RUSTC").filter(|name| !name.is_empty());
        let sysroot = PathBuf::from(SYSROOT);
        let program = rustc_path(&sysroot);
        if named.is_none() && program.is_file() {
            return Ok(Compiler { program, sysroot });
        }
        let named = named.unwrap_or_else(|| "rustc".into());
        let sysroot = PathBuf::from(query(&named, &["--print", "sysroot"], lang)?);
        let rustc = rustc_path(&sysroot);
        let program = if rustc.is_file() { rustc } else { named.into() };
        Ok(Compiler { program, sysroot })
    }

    /// Explains that the compiler is too old for the course; `None` if it is not.
    fn too_old(&self, lang: Lang) -> Result<Option<String>> {
        let version_line = query(self.program.as_os_str(), &["--version"], lang)?;
        let version = version_line.split(' ').nth(1).unwrap_or_default();
        Ok((version_number(version) < version_number(MIN_VERSION)).then(|| {
            localize!(
                lang,
                "Rust submissions need Rust {} or newer, but {} is version {}. Update it (rustup \
                 update) and rebuild the course",
                "用 Rust 写的答案需要 Rust {} 或更新的版本，而 {} 的版本是 {}。请更新（rustup update），再重新构建\
                 课程";
                MIN_VERSION, self.program.display(), version
            )
        }))
    }
}

/// Returns the path of the compiler in a sysroot.
fn rustc_path(sysroot: &Path) -> PathBuf {
    sysroot
        .join("bin")
        .join(format!("rustc{}", env::consts::EXE_SUFFIX))
}

/// Runs a compiler with arguments that query it. Returns the trimmed output.
fn query(program: &OsStr, arguments: &[&str], lang: Lang) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let output = command
        .output()
        .with_context(|| localize!(lang, "cannot run {}", "无法运行 {}"; program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the first two numbers of a version for comparison.
fn version_number(version: &str) -> [u32; 2] {
    let mut parts = version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0));
    [(); 2].map(|()| parts.next().unwrap_or(0))
}

/// The compiler's names of the two source files.
const SOURCES: [&str; 2] = ["main.rs", "student.rs"];

/// The starts of messages about unreadable files.
const UNREADABLE: [&str; 3] = [
    "error: couldn't read ",
    "error[E0583]",
    "error: couldn't load ",
];

/// Returns the message for the student if the compiler read files other than [`SOURCES`] or environment
/// variables, according to the dependency list at `list`.
fn foreign_inputs(list: &Path) -> Result<Option<Text>> {
    let list = fs::read_to_string(list)?;
    let variable = |line: &str| Some(line.strip_prefix("# env-dep:")?.to_owned());
    if let Some(variable) = list.lines().find_map(variable) {
        let name = variable.split('=').next().unwrap_or_default();
        return Ok(Some(text!(
            "It reads the environment variable `{}` at compile time: remove `env!` and \
             `option_env!`.",
            "它在编译时读取了环境变量 `{}`：请去掉 `env!` 和 `option_env!`。";
            name
        )));
    }
    let other = listed_files(&list).find(|file| !SOURCES.contains(&file.as_str()));
    Ok(other.map(|file| one_file(&format!(" (`{file}`)"))))
}

/// Returns the message for the student if a file could not be read. It does not reveal which files exist.
fn unreadable_input(messages: &str) -> Option<Text> {
    let is_unreadable = |line: &str| UNREADABLE.iter().any(|prefix| line.starts_with(prefix));
    messages.lines().any(is_unreadable).then(|| one_file(""))
}

fn one_file(which: &str) -> Text {
    text!(
        "A submission is a single file, but this one includes another{}: remove `mod …;`, \
         `#[path]`, `include!`, `include_str!` and `include_bytes!`.",
        "答案只能是一个文件，而这个答案包含了另一个文件{}：请去掉 `mod …;`、`#[path]`、\
         `include!`、`include_str!` 和 `include_bytes!`。";
        which
    )
}

/// Returns the files in a dependency list, which has one makefile rule without prerequisites per file.
fn listed_files(list: &str) -> impl Iterator<Item = String> {
    let rules = list.lines().filter(|line| !line.starts_with('#'));
    let files = rules.filter_map(|line| line.strip_suffix(':'));
    files.map(|file| file.replace("\\ ", " "))
}

/// Libraries in a separate folder.
pub struct Libraries {
    pub folder: PathBuf,
    /// The library `answers` in that folder.
    pub answers: PathBuf,
    /// The paths of the original files.
    pub files: Vec<PathBuf>,
}

/// Creates the folder and links the libraries into it.
pub fn gather(folder: PathBuf, lang: Lang) -> Result<Libraries> {
    let answers = find_library(lang)?;
    let library_folder = answers.parent().unwrap_or(Path::new("."));
    let context = || localize!(lang, "cannot read {}", "无法读取 {}"; answers.display());
    let library = fs::read(&answers).with_context(context)?;
    let needed = hashes(&library);
    let mut files = vec![answers.clone()];
    for entry in fs::read_dir(library_folder)?.flatten() {
        let name = entry.file_name();
        if name
            .to_str()
            .and_then(hash)
            .is_some_and(|hash| needed.contains(hash))
        {
            files.push(entry.path());
        }
    }
    fs::create_dir(&folder)?;
    let link_path = |file: &Path| folder.join(file.file_name().unwrap_or_default());
    for file in &files {
        match link(file, &link_path(file)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
    }
    Ok(Libraries {
        answers: link_path(&answers),
        folder,
        files,
    })
}

#[cfg(unix)]
fn link(file: &Path, link_path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, link_path)
}

#[cfg(not(unix))]
fn link(file: &Path, link_path: &Path) -> io::Result<()> {
    fs::hard_link(file, link_path).or_else(|_| fs::copy(file, link_path).map(drop))
}

/// Finds the library `answers` that cargo placed next to the program; of several, the newest, which was
/// linked last.
fn find_library(lang: Lang) -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    // A test program is in `deps` itself.
    let folders = [folder.join("deps"), folder.to_owned()];
    let files = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let libraries = files.flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_library_file = name.starts_with("libanswers-") && name.ends_with(".rlib");
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        is_library_file.then(|| (changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()))
    });
    libraries.max().map(|(_, path)| path).ok_or_else(|| {
        anyhow!(localize!(
            lang,
            "Rust submissions are compiled against libanswers-….rlib, which should be in {}: \
             rebuild the course with cargo, in a checkout of Warpbook",
            "用 Rust 写的答案要与 libanswers-….rlib 一起编译；它应在 {} 中，但没有找到：请在 Warpbook \
             的代码库中用 cargo 重新构建课程";
            folders[0].display()
        ))
    })
}

/// The number of digits of the hash that cargo appends to a library's name.
const DIGITS: usize = 16;

/// Returns the hash in the name of an `.rlib` or of a procedural macro's library; `None` for other files.
fn hash(name: &str) -> Option<&str> {
    let (name, ending) = name.rsplit_once('.')?;
    let (_, hash) = name.rsplit_once('-')?;
    let is_library = ["rlib", "so", "dylib", "dll"].contains(&ending);
    (is_library && hash.len() == DIGITS).then_some(hash)
}

/// Finds all hashes in a library. The compiler writes the hash of every dependency into it.
fn hashes(library: &[u8]) -> HashSet<&str> {
    let mut hashes = HashSet::new();
    let mut digits = None;
    for (at, byte) in library.iter().enumerate() {
        digits = match (byte, digits) {
            (b'-', _) => Some(0),
            (b'0'..=b'9' | b'a'..=b'f', Some(count)) => Some(count + 1),
            _ => None,
        };
        if digits == Some(DIGITS)
            && let Ok(hash) = str::from_utf8(&library[at + 1 - DIGITS..=at])
        {
            hashes.insert(hash);
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version_number("1.9.0") < version_number("1.95"));
        assert!(
            version_number("1.96.0-nightly") > version_number("1.95")
                && version_number("1.95.1") == version_number("1.95")
        );
        assert!(
            version_number("2.0.0") > version_number("1.95")
                && version_number("") < version_number("1.0")
        );
    }

    /// Returns the message for a dependency list of these files with additional lines.
    fn verdict(files: &[&str], more: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answer.d");
        let rules = files.iter().map(|file| format!("{file}:\n"));
        let all = format!(
            "answer: {}\n\n{}{more}",
            files.join(" "),
            rules.collect::<String>()
        );
        fs::write(&path, all).expect("the file can be written");
        foreign_inputs(&path)
            .expect("the file can be read")
            .map(|message| message.en)
    }

    #[test]
    fn the_submissions_own_files_are_accepted() {
        assert_eq!(verdict(&SOURCES, ""), None);
    }

    #[test]
    fn foreign_files_are_named() {
        for (file, path) in [("/etc/passwd", "/etc/passwd"), ("/a\\ b.rs", "/a b.rs")] {
            let message = verdict(&["main.rs", "student.rs", file], "").expect("an error");
            assert!(message.contains(&format!("`{path}`")), "{message}");
        }
        assert!(verdict(&["main.rs", "student.rs", "../student.rs"], "").is_some());
    }

    #[test]
    fn environment_variables_are_named() {
        let message = verdict(&SOURCES, "\n# env-dep:HOME=/home/ann\n").expect("an error");
        assert!(
            message.contains("`HOME`") && !message.contains("ann"),
            "{message}"
        );
        assert!(verdict(&SOURCES, "\n# env-dep:HOME\n").is_some());
    }

    #[test]
    fn unreadable_files_are_not_named() {
        let message =
            "error: couldn't read `/root/x`: Permission denied (os error 13)\n --> a.rs:1:1";
        let message = unreadable_input(message).expect("an error").en;
        assert!(!message.contains("/root"), "{message}");
        assert!(unreadable_input("error[E0583]: file not found for module `x`").is_some());
        assert_eq!(unreadable_input("error[E0308]: mismatched types"), None);
    }

    #[test]
    fn hashes_of_libraries_are_found_anywhere() {
        let library = b"\0-0123456789abcdef\xff-aaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-0123-xyz";
        let mut hashes: Vec<_> = hashes(library).into_iter().collect();
        hashes.sort_unstable();
        assert_eq!(
            hashes,
            ["0123456789abcdef", "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"]
        );
        assert_eq!(
            hash("libcust-0123456789abcdef.rlib"),
            Some("0123456789abcdef")
        );
        assert_eq!(
            hash("libserde_derive-0123456789abcdef.so").map(str::len),
            Some(16)
        );
        for other in [
            "libcust-0123456789abcdef.rmeta",
            "cust-0123.d",
            "libcust.rlib",
            "cust-0123456789abcdef",
        ] {
            assert_eq!(hash(other), None, "{other}");
        }
    }
}
