//! Linking: a program's objects to a shared library, in which CUDA's functions stay undefined and resolve to those of
//! this program; and the kernels of several files to one module, whose undefined functions and variables are errors.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs};

use anyhow::{Context as _, Result, bail};
use cuda_driver::names::with_parameters;
use cuda_driver::{CallSite, is_device_function};
use telemetry::{Level, Problem};

use super::attributes::ClusterDims;
use super::pass::{CUDA_ARGS, patch_ptx, run_clang};
use super::scan::{is_name_char, variable_name};
use super::{Compiler, SourceError, parse_location};
use crate::flags::CompileFlags;

/// Returns the linker's arguments except the objects.
pub fn link_args(flags: &CompileFlags) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    for dir in &flags.library_dir {
        args.extend(["-L".into(), dir.into()]);
    }
    args.extend(flags.library.iter().map(|name| format!("-l{name}").into()));
    for arg in &flags.link {
        match arg.as_str() {
            "-fopenmp" => args.push(arg.into()),
            arg => args.extend(["-Xlinker".into(), arg.into()]),
        }
    }
    args
}

/// Links objects to a shared library in this directory.
pub fn link_library(compiler: &Compiler, objects: &[PathBuf], dir: &Path) -> Result<PathBuf> {
    let library = dir.join("program.so");
    let undefined_flags: &[&str] = match cfg!(target_os = "macos") {
        true => &["-undefined", "dynamic_lookup"],
        // The program uses its own functions and variables, even if this process defines others of that name.
        // The program's `dlopen` of `libcuda.so` finds this process.
        false => &["-Wl,-Bsymbolic", "-Wl,--wrap=dlopen"],
    };
    let mut command = Command::new(compiler.clang.program());
    command
        .args(["--driver-mode=g++", "-shared"])
        .args(objects)
        .arg("-o")
        .arg(&library);
    command
        .args(undefined_flags)
        .args(link_args(compiler.flags));
    let output = command.output().context("cannot start clang to link")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let message = format!("{}{}", stderr.trim_end(), remedy(&stderr));
        let problem = Problem {
            location: stderr.lines().find_map(location_in),
            ..Problem::new("link-error", "compile", Level::Error, &message)
        };
        bail!(SourceError {
            text: format!("cannot link the program:\n{message}"),
            problems: vec![problem],
        });
    }
    Ok(library)
}

/// Returns the source location in a linker's message: "/usr/bin/ld: ./main.cu:12: multiple definition of `f'".
fn location_in(line: &str) -> Option<CallSite> {
    line.split(": ").find_map(parse_location)
}

/// Returns advice if the linker does not find a library that clang itself requires.
fn remedy(stderr: &str) -> &'static str {
    // The messages of GNU's, LLVM's and Apple's linkers.
    let contains = |message: &str| stderr.contains(message);
    if contains("find -lomp") || contains("library -lomp") || contains("library 'omp'") {
        "\nclang's OpenMP runtime is a separate package: sudo apt-get install libomp-dev (Debian and Ubuntu), \
         sudo dnf install libomp-devel (Fedora), brew install libomp (Mac)"
    } else {
        ""
    }
}

/// An undefined function and the location of a call, if it is known.
#[derive(Debug, PartialEq, Eq)]
pub struct UnresolvedFunction {
    pub name: String,
    pub location: Option<CallSite>,
}

impl Compiler<'_> {
    /// Returns the undefined functions of these files, including CUDA's, from the linker's messages, which
    /// contain line numbers. Returns an empty list if linking cannot be tried.
    pub fn unresolved_functions(&self, files: &[PathBuf]) -> Vec<UnresolvedFunction> {
        let link = || -> Result<String> {
            let dir = tempfile::tempdir()?;
            let mut objects = Vec::new();
            for file in self.passes(files, super::Goal::Library) {
                objects.extend(file.compile(dir.path())?.object);
            }
            let mut command = Command::new(self.clang.program());
            command.args(["--driver-mode=g++", "-shared", "-Wl,--no-undefined"]);
            command
                .args(objects)
                .arg("-o")
                .arg(dir.path().join("all.so"));
            command.args(link_args(self.flags)).env("LC_ALL", "C");
            Ok(String::from_utf8_lossy(&command.output()?.stderr).into_owned())
        };
        let mut functions = link()
            .map(|stderr| parse_unresolved(&stderr))
            .unwrap_or_default();
        // Registration functions of linked kernels are generated when the program is linked.
        functions.retain(|function| !function.name.starts_with(REGISTER_PREFIX));
        functions
    }
}

/// Parses a linker's messages about undefined symbols: GNU's "main.cu:12: undefined reference to `name'", or
/// LLVM's `undefined symbol: name`, followed by `>>> referenced by main.cu:12`.
fn parse_unresolved(stderr: &str) -> Vec<UnresolvedFunction> {
    let mut functions: Vec<UnresolvedFunction> = Vec::new();
    let mut pending_name: Option<String> = None;
    for line in stderr.lines() {
        if let Some((location, rest)) = line.split_once(": undefined reference to ") {
            let name = rest.trim_matches(['`', '\'', '"']);
            let location = location.strip_prefix("/usr/bin/ld: ").unwrap_or(location);
            add_unresolved(&mut functions, name, location);
        } else if let Some((_, name)) = line.split_once("undefined symbol: ") {
            pending_name = Some(name.trim().to_owned());
        } else if let (Some((_, reference)), Some(name)) =
            (line.split_once(">>> referenced by "), &pending_name)
        {
            add_unresolved(
                &mut functions,
                name,
                reference.split(" (").next().unwrap_or(reference),
            );
            pending_name = None;
        }
    }
    functions
}

/// Adds a function unless it is already listed.
fn add_unresolved(functions: &mut Vec<UnresolvedFunction>, name: &str, location: &str) {
    if functions.iter().any(|existing| existing.name == name) {
        return;
    }
    functions.push(UnresolvedFunction {
        name: name.to_owned(),
        location: parse_location(location.trim()),
    });
}

/// The prefix of the registration functions, followed by the file's identifier.
const REGISTER_PREFIX: &str = "__cudaRegisterLinkedBinary";

/// Links the kernels of several files in one module, in which they call each other's functions, to one PTX file in
/// this directory. Each file is compiled to LLVM bitcode. `managed` names the variables in managed memory, and
/// `clusters` are the kernels' cluster sizes.
pub fn link_ptx(
    compiler: &Compiler,
    bitcode: &[PathBuf],
    (managed, clusters): (&[String], &[ClusterDims]),
    dir: &Path,
) -> Result<PathBuf> {
    // clang links bitcode into the file that it compiles, which is empty here.
    let (empty_file, output) = (dir.join("nothing.cu"), dir.join("together.ptx"));
    fs::write(&empty_file, "").with_context(|| format!("cannot write {}", empty_file.display()))?;
    let mut command = Command::new(compiler.clang.program());
    command
        .args(CUDA_ARGS)
        .args(compiler.device_args())
        .arg("-S");
    for file in bitcode {
        let args: [OsString; 4] = [
            "-Xclang".into(),
            "-mlink-bitcode-file".into(),
            "-Xclang".into(),
            file.into(),
        ];
        command.args(args);
    }
    command.arg(&empty_file).arg("-o").arg(&output);
    run_clang(command, "cannot link the kernels")?;
    patch_ptx(&output, managed, clusters)?;
    Ok(output)
}

/// Compiles the object that embeds the PTX and defines the registration functions that `objects` call: at program
/// start, the host code of each file registers its kernels and variables through a function whose name contains an
/// identifier of the file.
pub fn embed_object(
    compiler: &Compiler,
    ptx: &Path,
    objects: &[PathBuf],
    dir: &Path,
) -> Result<PathBuf> {
    let mut names = BTreeSet::new();
    for object in objects {
        let bytes =
            fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
        names.extend(registration_functions(&bytes));
    }
    let text = fs::read_to_string(ptx).with_context(|| format!("cannot read {}", ptx.display()))?;
    let (source, output) = (dir.join("together.c"), dir.join("together.o"));
    fs::write(&source, object_source(&text, &names))
        .with_context(|| format!("cannot write {}", source.display()))?;
    let mut command = Command::new(compiler.clang.program());
    command
        .args(["-c", "-fPIC", "-w"])
        .arg(&source)
        .arg("-o")
        .arg(&output);
    run_clang(command, "cannot embed the kernels in the program")?;
    Ok(output)
}

/// Finds the names of registration functions in an object's symbol table.
fn registration_functions(object: &[u8]) -> Vec<String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = object
        .windows(REGISTER_PREFIX.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == REGISTER_PREFIX.as_bytes());
    starts
        .map(|(start, _)| {
            let name = object[start..].iter().take_while(|byte| is_name(byte));
            name.map(|byte| char::from(*byte)).collect()
        })
        .collect()
}

/// Returns the C source of the embedding object.
fn object_source(ptx: &str, names: &BTreeSet<String>) -> String {
    let mut source = String::from("static const char kernels[] =\n");
    for line in ptx.lines() {
        source += &format!("\"{}\\n\"\n", line.escape_default());
    }
    // The magic number identifies a fat binary wrapper.
    source += ";
static struct { int number, version; const void *data; void *unused; } fat_binary = {0x466243b1, 1, kernels, 0};
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
int atexit(void (*)(void));
static void **handle;
static void unregister(void) { __cudaUnregisterFatBinary(handle); }
static void register_file(void (*register_all)(void **)) {
    if (!handle) {
        handle = __cudaRegisterFatBinary(&fat_binary);
        __cudaRegisterFatBinaryEnd(handle);
        atexit(unregister);
    }
    if (register_all) register_all(handle);
}
";
    for name in names {
        source += &format!(
            "void {name}(void (*register_all)(void **), void *binary, void *id, void *callback) {{ register_file(register_all); }}\n"
        );
    }
    source
}

/// An undefined symbol.
pub struct Undefined {
    /// The kind and the name: `function twice(int)`.
    pub name: String,
    /// The location of the first use.
    pub location: Option<CallSite>,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.location {
            Some(CallSite { file, line }) => write!(f, " (used in {file}:{line})"),
            None => Ok(()),
        }
    }
}

/// The symbols that a module declares, with their kinds, and its source files by number.
type Declarations<'a> = (Vec<(&'a str, &'a str)>, HashMap<&'a str, &'a str>);

/// Lists the symbols that a module declares and does not define.
fn declarations(ptx: &str) -> Declarations<'_> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    let mut files: HashMap<&str, &str> = HashMap::new();
    for line in ptx.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix(".extern .func") {
            // .extern .func  (.param .b32 func_retval0) NAME
            let rest = rest.trim_start();
            let return_value = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            let name = return_value.map_or(rest, |(_, name)| name.trim_start());
            let name = name.split(|c| !is_name_char(c)).next().unwrap_or_default();
            names.push(("function", name));
        } else if let Some(rest) = line
            .strip_prefix(".extern .global")
            .or(line.strip_prefix(".extern .const"))
        {
            names.push(("variable", variable_name(rest)));
        } else if let Some(rest) = line.strip_prefix(".file") {
            // .file 1 "NAME"
            if let Some((number, name)) = rest.trim().split_once(char::is_whitespace) {
                files.insert(number, name.trim().trim_matches('"'));
            }
        }
    }
    (names, files)
}

/// Returns the location of the first call of a function that the device runtime provides.
pub fn first_call(ptx: &str, function: &str) -> Option<CallSite> {
    let (names, files) = declarations(ptx);
    let is_declared = names.iter().any(|(_, name)| *name == function);
    is_declared
        .then(|| first_use(ptx, function, &files))
        .flatten()
}

/// Lists the undefined symbols of a module.
pub fn undefined(ptx: &str) -> Vec<Undefined> {
    let (mut names, files) = declarations(ptx);
    names.retain(|(_, name)| !is_device_function(name));
    let uses = names.iter().map(|(kind, name)| Undefined {
        name: format!("{kind} {}", with_parameters(name)),
        location: first_use(ptx, name, &files),
    });
    uses.collect()
}

/// Returns the source location of the first instruction that contains this name.
fn first_use(ptx: &str, name: &str, files: &HashMap<&str, &str>) -> Option<CallSite> {
    let mut location = None;
    for line in ptx.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix(".loc") {
            // .loc 1 12 5
            let mut numbers = rest.split_whitespace();
            location = numbers.next().zip(numbers.next());
        } else if line.starts_with(['.', '/', '(', ')', '{', '}']) {
            continue;
        } else if line.split(|c| !is_name_char(c)).any(|word| word == name) {
            let (file, number) = location?;
            return Some(CallSite {
                file: files.get(file)?.trim_start_matches("./").to_owned(),
                line: number.parse().ok()?,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, location: &str) -> UnresolvedFunction {
        UnresolvedFunction {
            name: name.to_owned(),
            location: parse_location(location),
        }
    }

    #[test]
    fn gnu_and_llvm_linker_errors_are_parsed() {
        let gnu = "/usr/bin/ld: /tmp/0.o: in function `main':\n\
                   /usr/bin/ld: ./main.cu:12: undefined reference to `cublasSgemm_v2'\n\
                   /usr/bin/ld: ./main.cu:14: undefined reference to `cublasSgemm_v2'\n\
                   0.cpp:(.text+0x5): undefined reference to `gone(int)'\n\
                   clang: error: linker command failed with exit code 1\n";
        let expected = [
            function("cublasSgemm_v2", "main.cu:12"),
            function("gone(int)", ""),
        ];
        assert_eq!(parse_unresolved(gnu), expected);
        let lld = "ld.lld: error: undefined symbol: cublasSgemm_v2\n\
                   >>> referenced by main.cu:12 (./main.cu:12)\n\
                   >>>               0.o:(main)\n";
        assert_eq!(
            parse_unresolved(lld),
            [function("cublasSgemm_v2", "main.cu:12")]
        );
    }

    #[test]
    fn a_missing_openmp_library_names_its_package() {
        for stderr in [
            "/usr/bin/ld: cannot find -lomp: No such file or directory",
            "ld.lld: error: unable to find library -lomp",
            "ld: library 'omp' not found",
        ] {
            assert!(remedy(stderr).contains("libomp-dev"), "{stderr}");
        }
        assert_eq!(remedy("/usr/bin/ld: cannot find -lcublas"), "");
    }

    #[test]
    fn the_location_in_a_linker_error_is_found() {
        for line in [
            "././b.cu:1: multiple definition of `main'; 0.o:./a.cu:2: first defined here",
            "/usr/bin/ld: b.cu:1: multiple definition of `main'",
        ] {
            let location = location_in(line).expect("a location");
            assert_eq!((&*location.file, location.line), ("b.cu", 1));
        }
        assert_eq!(location_in("/usr/bin/ld: 1.o: in function `main':"), None);
    }

    #[test]
    fn registration_functions_are_found_in_an_object() {
        let object = b"\x7fELF\0_Z1kv\0__cudaRegisterLinkedBinary__nv_6e7f\0\
                       ___cudaRegisterLinkedBinary__nv_01\0main";
        let names = [
            "__cudaRegisterLinkedBinary__nv_6e7f",
            "__cudaRegisterLinkedBinary__nv_01",
        ];
        assert_eq!(registration_functions(object), names);
        assert!(registration_functions(b"\x7fELF\0main").is_empty());
    }

    const PTX: &str = "
.extern .func  (.param .b32 func_retval0) vprintf
(
        .param .b64 vprintf_param_0,
        .param .b64 vprintf_param_1
)
;
.extern .func  (.param .b32 func_retval0) _Z5twicei
(
        .param .b32 _Z5twicei_param_0
)
;
.extern .func stop()
;
.extern .global .align 4 .u32 counter;
.extern .const .align 4 .b8 scale[8];
.extern .shared .align 4 .b8 buffer[];

.visible .entry k(
        .param .u64 k_param_0
)
{
        .file   1 \"./main.cu\"
        .loc    1 9 0
        ld.global.u32   %r1, [counters];
        .loc    1 12 5
        { // callseq 0, 0
        call.uni (retval0),
        _Z5twicei,
        (
        param0
        );
        .loc    1 14 3
        ld.global.u32   %r1, [counter];
        call.uni stop, ();
}
";

    #[test]
    fn undefined_symbols_are_reported_with_their_first_use() {
        let symbols = undefined(PTX);
        let symbols: Vec<String> = symbols.iter().map(ToString::to_string).collect();
        assert_eq!(
            symbols,
            [
                "function twice(int) (used in main.cu:12)",
                "function stop (used in main.cu:14)",
                "variable counter (used in main.cu:14)",
                "variable scale",
            ]
        );
        assert!(undefined(".visible .func f()\n{\nret;\n}\n").is_empty());
    }
}
