//! Compilation of one file: the device pass, and the host pass that embeds its output.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use cuda_driver::CallSite;
use telemetry::{Level, Problem, Related};

use super::arch::{Arch, HOPPER};
use super::attributes::{self, ClusterDims, HostCode};
use super::dialect::Repairs;
use super::scan::identifier_len;
use super::{Compiler, Goal, parse_location};

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Cuda,
    Cpp,
    C,
}

/// Determines the language from the file's extension.
///
/// # Errors
///
/// Fails if the extension is not supported.
pub fn language(file: &Path) -> Result<Language> {
    let extension = file.extension().unwrap_or_default();
    Ok(match extension.to_str().unwrap_or_default() {
        "cu" => Language::Cuda,
        "cpp" | "cc" | "cxx" | "C" => Language::Cpp,
        "c" => Language::C,
        "ptx" | "cubin" | "fatbin" | "o" | "a" | "so" | "exe" | "out" => bail!(
            "{}: cuda-run compiles source files (.cu, .cpp, .c)",
            file.display()
        ),
        _ => bail!(
            "{}: cuda-run compiles only .cu, .cpp and .c files",
            file.display()
        ),
    })
}

/// clang's arguments for CUDA files.
pub const CUDA_ARGS: [&str; 12] = [
    "-x",
    "cuda",
    // No CUDA Toolkit is used, nor searched for.
    "-nocudainc",
    "-nocudalib",
    "--cuda-path=/nonexistent",
    // Selects the current runtime functions for launches.
    "-Xclang",
    "-target-sdk-version=11.0",
    // Templates declare `__device__ no probe(...);`, which no kernel calls.
    "-Xclang",
    "-fcuda-allow-variadic-functions",
    // Warnings that nvcc does not print: for a conversion in the ray tracing note's listing, for `register`,
    // which C++17 removed, and for loops that `#pragma unroll` cannot unroll.
    "-Wno-implicit-const-int-float-conversion",
    "-Wno-register",
    "-Wno-pass-failed",
];

impl Compiler<'_> {
    /// Returns the arguments of the device pass, for every output format.
    pub fn device_args(&self) -> Vec<OsString> {
        let arch = format!("--cuda-gpu-arch={}", self.arch.name());
        let feature = self.arch.feature();
        let args = [
            "--cuda-device-only",
            &arch,
            "-Xclang",
            "-target-feature",
            "-Xclang",
            &feature,
            // In a kernel, `new` may return a null pointer.
            "-fcheck-new",
            "-O3",
            // nvcc unrolls loops by four that clang would not unroll.
            "-mllvm",
            "-unroll-partial-threshold=200",
            "-mllvm",
            "-unroll-max-count=4",
            // Line information for the profiler and the sanitizer.
            "-gline-directives-only",
        ];
        args.iter()
            .chain(&self.clang.undefined_value_options())
            .map(OsString::from)
            .chain(self.flags.kernels.iter().map(OsString::from))
            .collect()
    }
}

/// Returns true if an include directory belongs to NVIDIA's CUDA Toolkit, which a Makefile may name.
fn is_cuda_toolkit(dir: &Path) -> bool {
    dir.join("crt/host_runtime.h").is_file()
}

/// How often a file is compiled again after a repair: clang stops at its 20th error.
const MAX_REPAIRS: usize = 50;

/// A source file and the arguments of its passes.
pub struct SourceFile {
    pub number: usize,
    /// True if the file's kernels are linked with those of other files.
    is_linked: bool,
    clang: OsString,
    clang_version: String,
    arch: Arch,
    file: PathBuf,
    device: Option<Vec<OsString>>,
    host: Option<Vec<OsString>>,
    /// The flag with the optimization level of host code.
    optimization: OsString,
}

/// The output for one file.
pub struct CompiledFile {
    /// The object, or `None` if the file does not compile.
    pub object: Option<PathBuf>,
    /// The kernels as PTX, or as LLVM bitcode if they are linked with others.
    pub kernels: Option<PathBuf>,
    /// The names of the kernels' variables in managed memory.
    pub managed: Vec<String>,
    /// The cluster sizes that kernels specify.
    pub clusters: Vec<ClusterDims>,
    /// clang's messages.
    pub diagnostics: String,
    /// The files that clang read.
    pub sources: Vec<PathBuf>,
}

impl SourceFile {
    pub fn new(compiler: &Compiler, number: usize, file: &Path, goal: Goal) -> SourceFile {
        let language = language(file).unwrap_or(Language::Cpp);
        let flags = compiler.flags;
        let mut common: Vec<OsString> = Vec::new();
        let (toolkit_dirs, user_dirs): (Vec<_>, Vec<_>) =
            flags.include.iter().partition(|dir| is_cuda_toolkit(dir));
        for dir in user_dirs {
            common.extend(["-I".into(), dir.into()]);
        }
        common.extend(["-isystem".into(), (&compiler.include).into()]);
        for dir in &compiler.cccl {
            common.extend(["-isystem".into(), dir.into()]);
        }
        // NVIDIA's own headers do not match this runtime; those of its libraries are found after ours.
        for dir in toolkit_dirs {
            common.extend(["-isystem".into(), dir.into()]);
        }
        common.extend(flags.define.iter().map(|name| format!("-D{name}").into()));
        common.extend(flags.undefine.iter().map(|name| format!("-U{name}").into()));
        let standard = &flags.standard;
        if language != Language::C {
            common.extend([
                "--driver-mode=g++".into(),
                format!("-std={standard}").into(),
                // `"%"FORMAT`, which C++ before C++11 allowed and nvcc's host compilers still accept.
                "-Wno-error=reserved-user-defined-literal".into(),
            ]);
        } else if standard.starts_with('c') && !standard.starts_with("c++") {
            common.push(format!("-std={standard}").into());
        }
        common.push("-fdebug-compilation-dir=.".into());
        if io::stderr().is_terminal() {
            common.push("-fcolor-diagnostics".into());
        }
        let mut cuda: Vec<OsString> = CUDA_ARGS.map(OsString::from).into();
        cuda.extend(["-include".into(), "cuda_runtime.h".into()]);
        cuda.push(compiler.arch.list_macro().into());
        let is_linked = flags.link_kernels && goal == Goal::Library;
        if is_linked {
            // Static kernels and variables in two files may have the same name, to which clang appends this
            // identifier. Both passes must use the same one.
            let arg = format!("-cuid=file{number}");
            cuda.extend(["-fgpu-rdc", "-fuse-cuid=none", "-Xclang", &arg].map(OsString::from));
        }
        let mut device = [common.clone(), cuda.clone(), compiler.device_args()].concat();
        // Linked kernels are optimized after linking, as if they were in one file.
        let output_args: &[&str] = if is_linked { &DEVICE_CODE } else { &["-S"] };
        device.extend(output_args.iter().map(OsString::from));
        let mut host = common;
        if language == Language::Cuda {
            host.extend(cuda);
            host.push("--cuda-host-only".into());
            host.push(format!("--cuda-gpu-arch={}", compiler.arch.name()).into());
        }
        // Failed calls are reported with their lines, which needs line tables and the callers' frames.
        let args = [
            "-c",
            "-fPIC",
            "-gline-tables-only",
            "-fno-optimize-sibling-calls",
        ];
        host.extend(args.map(OsString::from));
        let optimization: OsString = format!("-O{}", flags.optimization).into();
        host.push(optimization.clone());
        host.extend(flags.host.iter().map(OsString::from));
        SourceFile {
            number,
            is_linked,
            clang: compiler.clang.program().to_owned(),
            clang_version: compiler.clang.version().to_owned(),
            arch: compiler.arch,
            file: file.to_owned(),
            device: (language == Language::Cuda).then_some(device),
            host: (goal == Goal::Library).then_some(host),
            optimization,
        }
    }

    /// Returns all arguments that determine the output.
    pub fn all_args(&self) -> Vec<OsString> {
        let mut args = vec![self.file.clone().into()];
        args.extend(self.device.iter().flatten().cloned());
        args.extend(self.host.iter().flatten().cloned());
        args
    }

    /// Converts the kernels' LLVM code from text to the form that clang links.
    fn assemble(&self, code: &str, text: &Path, bitcode: &Path) -> Result<()> {
        fs::write(text, attributes::without_cluster_annotations(code))?;
        let mut command = Command::new(&self.clang);
        command
            .args(["-w", "-x", "ir", "-c", "-emit-llvm"])
            .args(["-Xclang", "-disable-llvm-passes", "-o"])
            .args([bitcode, text]);
        let output = command.output().context("cannot start clang")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("clang cannot read the LLVM code that it has written for the kernels:\n{stderr}");
        }
        Ok(())
    }

    /// Returns the kernels' LLVM code, which contains what PTX lacks: managed variables and cluster sizes.
    fn device_code(
        &self,
        device_args: &[OsString],
        code: &Path,
        repairs: &mut Repairs,
    ) -> Result<String> {
        let files = (&code.to_owned(), &code.with_extension("d"));
        let pass = self.run_pass(
            device_args,
            &DEVICE_CODE.map(OsString::from),
            files,
            repairs,
        )?;
        match pass.success {
            true => Ok(fs::read_to_string(code)?),
            false => Ok(String::new()),
        }
    }

    /// Returns the errors of cluster sizes that the architecture does not have.
    fn cluster_errors(&self, clusters: &[ClusterDims]) -> String {
        if self.arch.has_clusters() {
            return String::new();
        }
        let advice = Arch::advice(HOPPER, &self.clang_version);
        let errors = clusters.iter().map(|ClusterDims { location, .. }| {
            let CallSite { file, line } = location;
            format!(
                "{file}:{line}:1: error: `__cluster_dims__` requires {HOPPER}, but the kernels are compiled for {}. {advice}\n",
                self.arch.name()
            )
        });
        errors.collect()
    }

    /// Compiles the host code of a file that may have managed variables. Returns clang's result and its object.
    fn compile_managed(
        &self,
        args: (&[OsString], &[OsString]),
        object: &Path,
        repairs: &mut Repairs,
    ) -> Result<PassOutput> {
        let (args, extra_args) = args;
        let code_args = [extra_args, &LLVM_CODE.map(OsString::from)].concat();
        let [code, assembly] =
            ["host.ll", "host.s"].map(|extension| object.with_extension(extension));
        let mut pass = self.run_pass(
            args,
            &code_args,
            (&code, &object.with_extension("host.d")),
            repairs,
        )?;
        if !pass.success {
            return Ok(pass);
        }
        let run = |args: &[&str], input: &Path, output: &Path| -> Result<()> {
            let mut command = Command::new(&self.clang);
            command
                .args(["-w", "-fPIC", "-fno-optimize-sibling-calls"])
                .args(args);
            command
                .arg(&self.optimization)
                .arg(input)
                .arg("-o")
                .arg(output);
            run_clang(
                command,
                "cannot compile the host code with its managed variables",
            )
        };
        let Some(host) = HostCode::rewrite(&fs::read_to_string(&code)?) else {
            run(&["-c", "-x", "ir"], &code, object)?;
            return Ok(pass);
        };
        fs::write(&code, &host.code)?;
        run(&["-S", "-x", "ir"], &code, &assembly)?;
        match host.patch_assembly(&fs::read_to_string(&assembly)?) {
            Ok(patched) => {
                fs::write(&assembly, patched)?;
                run(&["-c", "-x", "assembler"], &assembly, object)?;
            }
            Err(name) => {
                pass.success = false;
                pass.stderr += &format!(
                    "{}:1:1: error: the address of the managed variable `{}` initializes a static variable or an array, but is \
                     known only when the program runs: assign it in a function\n",
                    self.file.display(),
                    cuda_driver::names::with_parameters(&name)
                );
            }
        }
        Ok(pass)
    }

    pub fn compile(&self, dir: &Path) -> Result<CompiledFile> {
        let output_path = |extension: &str| dir.join(format!("{}.{extension}", self.number));
        let mut compiled = CompiledFile {
            object: None,
            kernels: None,
            managed: Vec::new(),
            clusters: Vec::new(),
            diagnostics: String::new(),
            sources: Vec::new(),
        };
        let mut repairs = Repairs::default();
        let kernels = output_path(if self.is_linked { "ll" } else { "ptx" });
        if let Some(args) = &self.device {
            let files = (&kernels, &output_path("device.d"));
            let pass = self.run_pass(args, &[], files, &mut repairs)?;
            compiled.diagnostics = merge_messages(&repairs.warnings, &pass.stderr);
            compiled.sources = pass.sources;
            if !pass.success {
                return Ok(compiled);
            }
            let code = if self.is_linked {
                bind_statics(&fs::read_to_string(&kernels)?)
            } else if mentions(&compiled.sources, attributes::mentions_managed)
                || mentions(&compiled.sources, attributes::mentions_clusters)
            {
                self.device_code(args, &output_path("ll"), &mut repairs)?
            } else {
                String::new()
            };
            compiled.managed = attributes::managed_names(&code);
            compiled.clusters = attributes::clusters_of_code(&code);
            let errors = self.cluster_errors(&compiled.clusters);
            if !errors.is_empty() {
                compiled.diagnostics += &errors;
                return Ok(compiled);
            }
            compiled.kernels = Some(if self.is_linked {
                let bitcode = output_path("bc");
                self.assemble(&code, &kernels, &bitcode)?;
                bitcode
            } else {
                patch_ptx(&kernels, &compiled.managed, &compiled.clusters)?;
                kernels.clone()
            });
        }
        let Some(args) = &self.host else {
            compiled.object = compiled.kernels.clone();
            return Ok(compiled);
        };
        if self.device.is_some() && !self.is_linked {
            append_nul(&kernels)?;
        }
        let object = output_path("o");
        let mut extra_args: Vec<OsString> = Vec::new();
        if self.device.is_some() {
            let args = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang"];
            extra_args.extend(args.map(OsString::from));
            // clang requires a file; linked kernels are embedded later, once for all files.
            extra_args.push(if self.is_linked { &self.file } else { &kernels }.into());
        }
        let pass = if mentions(&compiled.sources, attributes::mentions_managed) {
            self.compile_managed((args, &extra_args), &object, &mut repairs)?
        } else {
            let files = (&object, &output_path("host.d"));
            self.run_pass(args, &extra_args, files, &mut repairs)?
        };
        compiled.diagnostics = merge_messages(&compiled.diagnostics, &pass.stderr);
        compiled.sources.extend(pass.sources);
        compiled.object = pass.success.then_some(object);
        Ok(compiled)
    }

    /// Runs clang, again after each repair. `files` are its output and the list of the files that it reads.
    fn run_pass(
        &self,
        args: &[OsString],
        extra_args: &[OsString],
        files: (&PathBuf, &PathBuf),
        repairs: &mut Repairs,
    ) -> Result<PassOutput> {
        let (output_file, dep_file) = files;
        let mut attempts = 0..MAX_REPAIRS;
        let output = loop {
            let mut command = Command::new(&self.clang);
            command.args(args).args(extra_args);
            command.args(repairs.args(&output_file.with_extension("repaired"))?);
            command.arg("-MD").arg("-MF").arg(dep_file);
            command.arg("-o").arg(output_file).arg(&self.file);
            let output = command
                .output()
                .with_context(|| format!("cannot start {}", self.clang.display()))?;
            let stderr = String::from_utf8_lossy(&output.stderr);
            let is_done = output.status.success() || attempts.next().is_none();
            if is_done || !repairs.add(&strip_colors(&stderr)) {
                break output;
            }
        };
        let mut stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() && stderr.trim().is_empty() {
            stderr = format!(
                "{}: clang exited with {}\n",
                self.file.display(),
                output.status
            );
        }
        Ok(PassOutput {
            success: output.status.success(),
            stderr,
            sources: fs::read_to_string(dep_file)
                .map_or_else(|_| Vec::new(), |text| parse_dependencies(&text)),
        })
    }
}

/// Fixes a bug of older clang versions in the PTX, defines functions that clang expects from a library, and raises the
/// PTX version to that of the instructions in inline assembly, of which clang knows nothing. Adds what PTX of clang lacks: `managed` names
/// the variables in managed memory, and `clusters` are the kernels' cluster sizes.
pub fn patch_ptx(ptx: &Path, managed: &[String], clusters: &[ClusterDims]) -> Result<()> {
    let text = fs::read_to_string(ptx).with_context(|| format!("cannot read {}", ptx.display()))?;
    let patched = kernel_build::fix_bit_fields(&text);
    let patched = define_traps(&patched);
    let patched = raise_version(&patched);
    let patched = attributes::add_managed_attributes(&patched, managed);
    let patched = attributes::add_cluster_directives(&patched, clusters);
    if *patched == *text {
        return Ok(());
    }
    fs::write(ptx, patched).with_context(|| format!("cannot write {}", ptx.display()))
}

/// Appends the NUL that loaded PTX must end with; newer clang versions embed the file without one.
fn append_nul(ptx: &Path) -> Result<()> {
    let file = fs::OpenOptions::new().append(true).open(ptx);
    file.and_then(|mut file| file.write_all(&[0]))
        .with_context(|| format!("cannot write {}", ptx.display()))
}

/// Runs clang, whose failure is an error in this context.
pub fn run_clang(mut command: Command, context: &str) -> Result<()> {
    let output = command.output().context("cannot start clang")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{context}:\n{}", stderr.trim_end());
    }
    Ok(())
}

/// The arguments for output of LLVM code that is not optimized yet.
const LLVM_CODE: [&str; 4] = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"];

/// Those for the kernels' code.
const DEVICE_CODE: [&str; 5] = {
    let [assembly, code, option, passes] = LLVM_CODE;
    [
        assembly,
        code,
        option,
        passes,
        attributes::ANNOTATE_CLUSTERS,
    ]
};

/// Returns true if the text of one of these files fulfils the condition.
fn mentions(sources: &[PathBuf], is_mentioned: impl Fn(&[u8]) -> bool) -> bool {
    let own = |file: &&PathBuf| !file.ends_with("crt/host_defines.h");
    let mut texts = sources.iter().filter(own).map(fs::read);
    texts.any(|text| text.is_ok_and(|text| is_mentioned(&text)))
}

struct PassOutput {
    success: bool,
    stderr: String,
    sources: Vec<PathBuf>,
}

/// Parses the prerequisites of a make rule.
fn parse_dependencies(rule: &str) -> Vec<PathBuf> {
    let prerequisites = rule
        .split_once(": ")
        .map_or("", |(_, prerequisites)| prerequisites);
    let mut files = vec![String::new()];
    let mut chars = prerequisites
        .replace("\\\n", " ")
        .chars()
        .collect::<Vec<_>>()
        .into_iter()
        .peekable();
    while let Some(c) = chars.next() {
        let last = files.len() - 1;
        match c {
            '\\' if chars.peek() == Some(&' ') || chars.peek() == Some(&'#') => {
                files[last].extend(chars.next());
            }
            '$' if chars.peek() == Some(&'$') => files[last].extend(chars.next()),
            ' ' | '\n' | '\r' => files.push(String::new()),
            c => files[last].push(c),
        }
    }
    files.retain(|file| !file.is_empty());
    files.into_iter().map(PathBuf::from).collect()
}

/// Appends those messages of the second pass that the first does not contain. A file is compiled for the GPU and for
/// the host, and both passes report the same errors.
fn merge_messages(first: &str, second: &str) -> String {
    let known_messages: Vec<String> = split_messages(first)
        .into_iter()
        .map(|message| strip_colors(&message))
        .collect();
    let mut text = split_messages(first).concat();
    for message in split_messages(second) {
        if !known_messages.contains(&strip_colors(&message)) {
            text += &message;
        }
    }
    text
}

/// Splits clang's output into messages, each starting with a location or clang's name, and drops summary lines.
pub fn split_messages(text: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut follows_include = false;
    for line in text.split_inclusive('\n') {
        let plain_line = strip_colors(line);
        if is_summary_line(plain_line.trim_end()) {
            continue;
        }
        let is_include_line = plain_line.starts_with("In file included from");
        let is_message = is_include_line
            || [": error: ", ": fatal error: ", ": warning: "]
                .iter()
                .any(|kind| plain_line.contains(kind));
        match messages.last_mut() {
            Some(last) if !is_message || follows_include => *last += line,
            _ => messages.push(line.to_owned()),
        }
        follows_include = is_include_line;
    }
    messages
}

/// Returns true for lines such as `2 errors generated when compiling for sm_86.`
fn is_summary_line(line: &str) -> bool {
    line.contains(" generated")
        && line.starts_with(|first: char| first.is_ascii_digit())
        && line.ends_with('.')
}

/// Returns the errors in clang's messages. An error in a header that several files include is one problem.
pub fn problems(messages: &str) -> Vec<Problem> {
    let messages = split_messages(&strip_colors(messages));
    let mut problems: Vec<Problem> = Vec::new();
    for problem in messages.iter().filter_map(|text| problem(text)) {
        let is_same = |known: &&mut Problem| {
            (known.headline(), &known.location, known.column)
                == (problem.headline(), &problem.location, problem.column)
        };
        match problems.iter_mut().find(is_same) {
            Some(known) => known.count += 1,
            None => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return problems;
    }
    let text = messages.concat();
    let text = text.trim_end();
    vec![Problem::new("compile-error", "compile", Level::Error, text)]
}

/// Converts one message, with its notes; `None` for a warning.
fn problem(message: &str) -> Option<Problem> {
    let (mut error, mut related) = (None, Vec::new());
    for line in message.lines() {
        let is_error = |kind| Some((kind, line.split_once(&format!(": {kind}: "))?));
        let include = line.strip_prefix("In file included from ");
        if let Some(location) =
            include.and_then(|place| parse_location(place.trim_end_matches(':')))
        {
            let message = "included here".to_owned();
            related.push(Related { location, message });
        } else if let Some((_, (place, text))) =
            ["fatal error", "error"].into_iter().find_map(is_error)
            && error.is_none()
        {
            error = Some((place, text));
        } else if let Some((place, text)) = line.split_once(": note: ")
            && let Some((location, _)) = line_and_column(place)
        {
            let message = text.to_owned();
            related.push(Related { location, message });
        }
    }
    let (place, text) = error?;
    let mut text = text.to_owned();
    let place = line_and_column(place);
    if let Some((CallSite { file, line }, _)) = &place {
        text += &format!("\nat {file}:{line}");
    }
    for Related { location, message } in &related {
        text += &format!("\n{message}: {}:{}", location.file, location.line);
    }
    let (location, column) = place.unzip();
    Some(Problem {
        location,
        column,
        related,
        ..Problem::new("compile-error", "compile", Level::Error, &text)
    })
}

/// Parses a location such as `main.cu:12:7`. The compiler counts columns in bytes, and this function in characters.
fn line_and_column(text: &str) -> Option<(CallSite, u32)> {
    let (location, column) = text.rsplit_once(':')?;
    let location = parse_location(location)?;
    let column: usize = column.parse().ok().filter(|&column| column > 0)?;
    let source = fs::read(&location.file).unwrap_or_default();
    let line = source.split(|&byte| byte == b'\n');
    let line = line.into_iter().nth(location.line as usize - 1);
    let before = line.and_then(|line| line.get(..column - 1));
    let before = before.map(|bytes| String::from_utf8_lossy(bytes).chars().count());
    let column = before.map_or(column, |characters| characters + 1);
    Some((location, u32::try_from(column).unwrap_or(u32::MAX)))
}

/// Removes terminal color sequences.
pub fn strip_colors(text: &str) -> String {
    let mut stripped = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // A color sequence ends with its first letter.
            let _ = chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            stripped.push(c);
        }
    }
    stripped
}

/// The functions in a vtable entry that has no definition. C++'s runtime library defines them on the host; on
/// the GPU nothing does.
const VIRTUAL_STUBS: [&str; 2] = ["__cxa_pure_virtual", "__cxa_deleted_virtual"];

/// Defines these functions in the PTX so that calling one traps: pure virtual and deleted functions of classes in
/// kernels (`virtual float area() const = 0;`).
fn define_traps(ptx: &str) -> Cow<'_, str> {
    let mut patched = Cow::Borrowed(ptx);
    for name in VIRTUAL_STUBS {
        let declaration = format!(".extern .func {name}\n()\n;\n");
        if patched.contains(&declaration) {
            let definition = format!(".weak .func {name}()\n{{\n\ttrap;\n\tret;\n}}\n");
            patched = Cow::Owned(patched.replace(&declaration, &definition));
        }
    }
    patched
}

/// The comment before inline assembly in PTX of clang.
pub const INLINE_ASSEMBLY: &str = "// begin inline asm";

/// Replaces the version of PTX that contains newer inline assembly.
fn raise_version(ptx: &str) -> Cow<'_, str> {
    let has_assembly = ptx.contains(INLINE_ASSEMBLY);
    let required = has_assembly.then(|| cuda_driver::required_version(ptx));
    let Some((major, minor)) = required.flatten() else {
        return Cow::Borrowed(ptx);
    };
    let version_of = |line: &str| line.strip_prefix(".version ").map(str::to_owned);
    match ptx.lines().find_map(version_of) {
        Some(version) if version != format!("{major}.{minor}") => {
            let lines =
                [version, format!("{major}.{minor}")].map(|text| format!(".version {text}\n"));
            Cow::Owned(ptx.replacen(&lines[0], &lines[1], 1))
        }
        _ => Cow::Borrowed(ptx),
    }
}

/// Makes each use of a static variable refer to its definition. If host code uses the variable, clang appends its
/// file's identifier to the name: `table__static__5f1c`. Kernels before the first such use still refer to `table`.
fn bind_statics(code: &str) -> String {
    let names: BTreeSet<&str> = code.lines().filter_map(global_name).collect();
    let renamed: HashMap<&str, &str> = names
        .iter()
        .filter_map(|&name| Some((name.split_once("__static__")?.0, name)))
        .filter(|(unbound, _)| names.contains(unbound))
        .collect();
    if renamed.is_empty() {
        return code.to_owned();
    }
    let declares = |line: &&str| global_name(line).is_some_and(|name| renamed.contains_key(name));
    let mut bound = String::with_capacity(code.len());
    for line in code.split_inclusive('\n').filter(|line| !declares(line)) {
        let mut parts = line.split('@');
        bound += parts.next().unwrap_or_default();
        for part in parts {
            let (name, rest) = part.split_at(identifier_len(part));
            bound.extend(["@", renamed.get(name).unwrap_or(&name), rest]);
        }
    }
    bound
}

/// Returns the name of the global variable that a line of LLVM code declares or defines.
fn global_name(line: &str) -> Option<&str> {
    let (name, declaration) = line.strip_prefix('@')?.split_once(" = ")?;
    let is_variable = declaration.contains(" global ") || declaration.contains(" constant ");
    is_variable.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_determines_the_language() {
        let language_of = |name: &str| language(Path::new(name)).map_err(|error| error.to_string());
        assert_eq!(language_of("a/b.cu"), Ok(Language::Cuda));
        assert_eq!(language_of("b.cc"), Ok(Language::Cpp));
        assert_eq!(language_of("b.c"), Ok(Language::C));
        assert!(
            language_of("a.out")
                .unwrap_err()
                .contains("compiles source files")
        );
        assert!(
            language_of("a.txt")
                .unwrap_err()
                .contains("compiles only .cu, .cpp and .c")
        );
        assert!(language_of("a").is_err());
    }

    #[test]
    fn a_make_rule_lists_the_sources() {
        let rule = "0.o: my\\ dir/a.cu \\\n  /usr/include/stdio.h \\\n  a$$b.h\n";
        let files = ["my dir/a.cu", "/usr/include/stdio.h", "a$b.h"].map(PathBuf::from);
        assert_eq!(parse_dependencies(rule), files);
        assert_eq!(parse_dependencies(""), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn uses_of_static_variables_are_bound_to_their_definitions() {
        let code = "@_ZL1a = external addrspace(4) global [4 x i32], align 4\n\
                    @_ZL1ab = internal addrspace(1) global float 2.0\n\
                    @_ZL1a__static__5f1c = addrspace(4) global [4 x i32] zeroinitializer\n\
                    load i32, i32 addrspace(4)* @_ZL1a, !dbg !1\nload float, float* @_ZL1ab\n";
        let bound = "@_ZL1ab = internal addrspace(1) global float 2.0\n\
                     @_ZL1a__static__5f1c = addrspace(4) global [4 x i32] zeroinitializer\n\
                     load i32, i32 addrspace(4)* @_ZL1a__static__5f1c, !dbg !1\nload float, float* @_ZL1ab\n";
        assert_eq!(bind_statics(code), bound);
        assert_eq!(bind_statics(bound), bound);
    }

    const WARNING: &str = "a.cu:3:7: warning: unused\n  int x;\n      ^\n";
    const ERROR: &str =
        "In file included from a.cu:1:\n./b.h:1:2: error: no\n  no\n  ^\n./b.h:9:1: note: here\n";

    #[test]
    fn a_message_of_both_passes_appears_once() {
        let device =
            format!("{WARNING}{ERROR}1 warning and 1 error generated when compiling for sm_86.\n");
        let host = format!("{ERROR}{WARNING}1 error generated when compiling for host.\n");
        assert_eq!(merge_messages(&device, &host), format!("{WARNING}{ERROR}"));
        assert_eq!(merge_messages("", &host), format!("{ERROR}{WARNING}"));
        let coloured = WARNING.replace("warning: ", "\u{1b}[0;1;35mwarning: \u{1b}[0m");
        assert_eq!(merge_messages(&coloured, WARNING), coloured);
    }

    #[test]
    fn messages_of_one_pass_are_kept() {
        let other = WARNING.replace(":3:", ":4:");
        assert_eq!(merge_messages(WARNING, &other), format!("{WARNING}{other}"));
    }

    #[test]
    fn the_errors_in_messages_have_lines_and_columns() {
        let fatal = "a:b.cu:2:10: fatal error: 'c.h' file not found\n";
        let again = ERROR.replace("a.cu", "c.cu");
        let problems = problems(&format!("{WARNING}{ERROR}{fatal}{again}"));
        assert_eq!(problems[0].count, 2);
        let places = problems.iter().map(|problem| {
            let location = problem.location.clone().expect("a location");
            (location.file, location.line, problem.column)
        });
        let places: Vec<_> = places.collect();
        let expected = [("b.h", 1, Some(2)), ("a:b.cu", 2, Some(10))];
        assert_eq!(
            places,
            expected.map(|(file, line, column)| (file.to_owned(), line, column))
        );
        let message = "no\nat b.h:1\nincluded here: a.cu:1\nhere: b.h:9";
        assert_eq!(problems[0].message, message);
        let related: Vec<u32> = problems[0]
            .related
            .iter()
            .map(|place| place.location.line)
            .collect();
        assert_eq!(related, [1, 9]);
    }

    #[test]
    fn errors_without_a_location_are_kept() {
        for text in [
            "clang: error: unknown argument: '-x'\n",
            "clang exited with signal 9\n",
        ] {
            let [problem] = &problems(text)[..] else {
                panic!("{text}");
            };
            assert!(problem.location.is_none() && text.trim_end().ends_with(&problem.message));
        }
    }

    #[test]
    fn a_pure_virtual_function_traps() {
        let ptx = ".extern .func __cxa_pure_virtual\n()\n;\n.visible .entry a()\n";
        let patched = define_traps(ptx);
        assert!(patched.starts_with(".weak .func __cxa_pure_virtual()\n{\n\ttrap;"));
        assert!(patched.ends_with("}\n.visible .entry a()\n"));
    }

    #[test]
    fn newer_inline_assembly_raises_the_version() {
        let ptx = |version: &str, instruction: &str| {
            format!(
                ".version {version}\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\
                 // begin inline asm\n{instruction}\n// end inline asm\nret;\n}}\n"
            )
        };
        let prefetching = "{.reg .b64 a, b; cp.async.ca.shared.global.L2::128B [a], [b], 16;}";
        assert_eq!(
            raise_version(&ptx("7.1", prefetching)),
            ptx("7.4", prefetching)
        );
        for (version, instruction) in [
            ("8.0", prefetching),
            ("7.1", "bar.sync 0;"),
            ("7.1", "no PTX"),
        ] {
            let text = ptx(version, instruction);
            assert_eq!(raise_version(&text), text);
        }
    }

    #[test]
    fn other_functions_are_unchanged() {
        let ptx = ".extern .func other\n()\n;\n";
        assert!(matches!(define_traps(ptx), Cow::Borrowed(unchanged) if unchanged == ptx));
    }
}
