//! Compilation of a program: kernels to PTX, host code to objects with the PTX embedded, and all objects to one
//! shared library; and of the kernels that a running program compiles with NVRTC, whose source and headers are texts in
//! memory.
//!
//! clang does all of the work; no file from NVIDIA is used. Compiled programs are cached: see [`cache`].

mod arch;
mod attributes;
pub mod cache;
mod dialect;
mod libraries;
mod link;
mod pass;
mod scan;

use std::error::Error;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, fs, iter, panic, slice, thread};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use arch::{Arch, HOPPER};
use cache::{Cache, Entry};
use chapter::file;
use common::gpu::Capability;
use cuda_driver::CallSite;
use kernel_build::{Clang, install_command};
use telemetry::{Level, Problem};
use tempfile::TempDir;

use crate::flags::CompileFlags;

#[cfg(unix)]
pub use arch::{OLDEST_ARCH, arch_number};
pub use libraries::{Linked, explain_undefined, find_linked};
#[cfg(unix)]
pub use scan::is_name_char;

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A shared library with the host code and the kernels.
    Library,
    /// The PTX of one file.
    Ptx,
}

/// A compiled program.
pub struct Compiled {
    /// The library, or the PTX.
    pub file: PathBuf,
    /// clang's warnings.
    pub diagnostics: String,
    /// The directory of `file`, if the output could not be cached.
    _dir: Option<TempDir>,
}

/// An error in the program's sources.
#[derive(Debug)]
pub struct SourceError {
    /// The message for the terminal, such as the compiler's output.
    pub text: String,
    /// The errors one by one, with their lines.
    pub problems: Vec<Problem>,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for SourceError {}

/// Creates the problem of an undefined function or variable; the message follows its name.
pub fn undefined_symbol(name: &str, message: &str, location: Option<CallSite>) -> Problem {
    let message = format!("{name} {message}");
    Problem {
        location,
        ..Problem::new("undefined-symbol", "compile", Level::Error, &message)
    }
}

/// Parses a location such as `./main.cu:12`.
fn parse_location(text: &str) -> Option<CallSite> {
    let (file, line) = text.trim_start_matches("./").rsplit_once(':')?;
    let line = line.parse().ok().filter(|&line| line > 0)?;
    let file = file.to_owned();
    Some(CallSite { file, line })
}

/// The compiler and its configuration.
pub struct Compiler<'a> {
    pub clang: Clang,
    pub flags: &'a CompileFlags,
    arch: Arch,
    include: PathBuf,
    /// The include directories of CCCL, if the user names one.
    cccl: Vec<PathBuf>,
}

impl<'a> Compiler<'a> {
    /// Finds clang, and chooses the architecture for a GPU of this compute capability.
    ///
    /// # Errors
    ///
    /// Fails with advice if there is no clang or it does not support the GPU.
    pub fn find(flags: &'a CompileFlags, gpu: Capability) -> Result<Self> {
        let clang = find_clang()?;
        let arch = match &flags.arch {
            Some(name) if name != "native" && name != "all" => Arch::named(name, clang.version()),
            _ => Arch::newest(clang.version(), gpu),
        };
        let include = headers()?;
        let cccl = flags.cccl.as_deref().map(libraries::cccl_dirs);
        Ok(Compiler {
            arch: arch.map_err(anyhow::Error::msg)?,
            clang,
            flags,
            include,
            cccl: cccl.transpose()?.unwrap_or_default(),
        })
    }

    /// Compiles these files, or returns the cached output if no source has changed.
    ///
    /// # Errors
    ///
    /// Fails with clang's messages if a file does not compile.
    pub fn compile(&self, files: &[PathBuf], goal: Goal) -> Result<Compiled> {
        for file in files {
            pass::language(file)?;
            ensure!(file.is_file(), "file not found: {}", file.display());
        }
        let passes = self.passes(files, goal);
        let cache = Cache::open();
        let key = self.key(&passes, goal)?;
        if let Some(compiled) = cache.as_ref().and_then(|cache| cache.find(&key)) {
            return Ok(compiled);
        }
        let dir = cache::build_dir(cache.as_ref())?;
        let output = self.compile_all(&passes, dir.path(), goal)?;
        let sources: Vec<PathBuf> = output.sources;
        match cache {
            Some(cache) => cache.store(&key, &output.file, &sources, output.diagnostics),
            None => Ok(Compiled {
                file: output.file,
                diagnostics: output.diagnostics,
                _dir: Some(dir),
            }),
        }
    }

    /// Returns the cache key: a hash of everything that determines the output, except the contents of files.
    fn key(&self, passes: &[pass::SourceFile], goal: Goal) -> Result<String> {
        let mut args = self.key_words(&format!("{goal:?}"))?;
        for file in passes {
            args.extend(file.all_args());
        }
        args.extend(link::link_args(self.flags));
        Ok(cache::hash_of(&args))
    }

    /// Returns the words with which every key starts. `output` distinguishes kinds of output.
    fn key_words(&self, output: &str) -> Result<Vec<OsString>> {
        let current_dir = std::env::current_dir().context("cannot find the current folder")?;
        Ok(vec![
            cache::FORMAT.into(),
            output.into(),
            current_dir.into(),
            self.clang.program().to_owned(),
            self.clang.version().into(),
        ])
    }

    /// Compiles the files in parallel on all processors, then links them.
    fn compile_all(
        &self,
        files: &[pass::SourceFile],
        dir: &Path,
        goal: Goal,
    ) -> Result<CompileOutput> {
        let next_index = AtomicUsize::new(0);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let compile_next = || {
            let file = files.get(next_index.fetch_add(1, Ordering::Relaxed))?;
            Some((file.number, file.compile(dir)))
        };
        let mut results: Vec<_> = thread::scope(|scope| {
            let compile_some = || iter::from_fn(compile_next).collect::<Vec<_>>();
            let workers: Vec<_> = (0..threads.min(files.len()))
                .map(|_| scope.spawn(compile_some))
                .collect();
            let results = workers.into_iter().map(|worker| worker.join());
            results
                .flat_map(|results| results.unwrap_or_else(|cause| panic::resume_unwind(cause)))
                .collect()
        });
        results.sort_by_key(|(number, _)| *number);
        let mut output = CompileOutput::default();
        let (mut objects, mut kernels) = (Vec::new(), Vec::new());
        let (mut managed, mut clusters) = (Vec::new(), Vec::new());
        let mut errors = String::new();
        for (_, result) in results {
            let compiled = result?;
            match compiled.object {
                Some(object) => objects.push(object),
                None => errors += &compiled.diagnostics,
            }
            kernels.extend(compiled.kernels);
            managed.extend(compiled.managed);
            clusters.extend(compiled.clusters);
            output.diagnostics += &compiled.diagnostics;
            output.sources.extend(compiled.sources);
        }
        if !errors.is_empty() || objects.len() < files.len() {
            let errors = libraries::explain_missing_headers(&errors);
            let text = format!(
                "{} does not compile:\n{}",
                self.clang.name(),
                errors.trim_end()
            );
            let problems = pass::problems(&errors);
            bail!(self.with_advice(SourceError { text, problems }));
        }
        let is_linked = goal == Goal::Library && self.flags.link_kernels && !kernels.is_empty();
        if is_linked {
            kernels = vec![link::link_ptx(self, &kernels, (&managed, &clusters), dir)?];
            objects.push(link::embed_object(self, &kernels[0], &objects, dir)?);
        }
        let modules = kernels.iter().map(|file| {
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
        });
        let modules: Vec<String> = modules.collect::<Result<_>>()?;
        check_undefined(&modules, is_linked).map_err(|error| self.with_advice(error))?;
        self.check_instructions(&modules)?;
        output.diagnostics += &self.warn_of_synchronization(&modules);
        output.sources.sort();
        output.sources.dedup();
        output.file = match goal {
            Goal::Ptx => objects.swap_remove(0),
            Goal::Library => link::link_library(self, &objects, dir)?,
        };
        Ok(output)
    }

    /// Checks that the kernels' architecture has the instructions of inline assembly, of which clang knows nothing.
    fn check_instructions(&self, modules: &[String]) -> Result<(), SourceError> {
        let mut with_assembly = modules
            .iter()
            .filter(|ptx| ptx.contains(pass::INLINE_ASSEMBLY));
        let Some(missing) = with_assembly.find_map(|ptx| cuda_driver::missing_instruction(ptx))
        else {
            return Ok(());
        };
        let place = missing.location.map_or_else(String::new, |location| {
            format!("{}:{}:1: ", location.file, location.line)
        });
        let error = format!(
            "{place}error: `{}` in inline assembly requires {}, but the kernels are compiled for {}. {}",
            missing.name,
            missing.target,
            self.arch.name(),
            Arch::advice(&missing.target, self.clang.version())
        );
        let problems = pass::problems(&error);
        let text = format!("the kernels do not compile:\n{error}");
        Err(SourceError { text, problems })
    }

    /// Adds the next step to errors that seem to come from code for newer GPUs than the kernels are compiled for.
    fn with_advice(&self, mut error: SourceError) -> SourceError {
        /// Parts of names that only code for Hopper uses.
        const NAMES: [&str; 10] = [
            "this_cluster",
            "cluster_group",
            "cuda::ptx",
            "cuda/ptx",
            "cp_async_bulk",
            "mbarrier",
            "wgmma",
            "SM_90",
            "SM90",
            "sm_90",
        ];
        let is_for_hopper = |text: &str| NAMES.iter().any(|name| text.contains(name));
        let advice = Arch::advice(HOPPER, self.clang.version());
        if self.arch.has_clusters() || !is_for_hopper(&error.text) || error.text.contains(&advice) {
            return error;
        }
        let cause = format!(
            "the code is for compute capability 9.0 or newer, but the kernels are compiled for {}. {advice}",
            self.arch.name()
        );
        error.text += &format!("\nlikely cause: {cause}");
        for problem in &mut error.problems {
            if is_for_hopper(&problem.message) {
                problem.cause = Some(cause.clone());
            }
        }
        error
    }

    /// Returns a warning if a kernel waits for kernels that it has launched, which nvcc rejects.
    fn warn_of_synchronization(&self, modules: &[String]) -> String {
        let mut defined = self.flags.define.iter();
        let is_accepted = defined.any(|name| name.starts_with("CUDA_FORCE_CDP1_IF_SUPPORTED"));
        let mut calls = modules
            .iter()
            .filter_map(|ptx| link::first_call(ptx, "cudaDeviceSynchronize"));
        match calls.next() {
            Some(CallSite { file, line }) if !is_accepted => format!(
                "{file}:{line}:1: warning: a kernel calls cudaDeviceSynchronize, which nvcc 12 accepts only for \
                 compute capability below 9.0 and with -DCUDA_FORCE_CDP1_IF_SUPPORTED; launch the work that follows in \
                 cudaStreamTailLaunch\n"
            ),
            _ => String::new(),
        }
    }

    fn passes(&self, files: &[PathBuf], goal: Goal) -> Vec<pass::SourceFile> {
        let numbered = files.iter().enumerate();
        let files = numbered.map(|(number, file)| pass::SourceFile::new(self, number, file, goal));
        files.collect()
    }
}

/// Checks that modules, in PTX, use no undefined functions or variables.
fn check_undefined(modules: &[String], is_linked: bool) -> Result<(), SourceError> {
    let undefined: Vec<_> = modules
        .iter()
        .flat_map(|ptx| link::undefined(ptx))
        .collect();
    if undefined.is_empty() {
        return Ok(());
    }
    let remedy = if is_linked || modules.len() < 2 {
        ""
    } else {
        "\nTo use functions and variables of another file in kernels, link all kernels with -rdc=true."
    };
    let lines: Vec<String> = undefined.iter().map(ToString::to_string).collect();
    let text = format!(
        "undefined functions or variables in the kernels:\n{}{remedy}",
        lines.join("\n")
    );
    let message = format!("is used in a kernel and not defined{remedy}");
    let problems = undefined.into_iter();
    let problems = problems.map(|symbol| undefined_symbol(&symbol.name, &message, symbol.location));
    Err(SourceError {
        text,
        problems: problems.collect(),
    })
}

/// The output of all passes.
#[derive(Default)]
struct CompileOutput {
    file: PathBuf,
    diagnostics: String,
    sources: Vec<PathBuf>,
}

/// Returns the numbers of the architectures that clang supports, such as 80.
///
/// # Errors
///
/// Fails if there is no clang.
#[cfg(unix)]
pub fn supported_archs() -> Result<Vec<u32>> {
    Ok(Arch::supported(find_clang()?.version()))
}

/// Finds clang.
///
/// # Errors
///
/// Fails with advice if there is none.
fn find_clang() -> Result<Clang> {
    Clang::find().map_err(|reason| {
        anyhow!(
            "cuda-run needs clang, but found no usable version ({reason}).\n\
             Install it:  {}",
            install_command()
        )
    })
}

/// Returns true if a file has the extension of a source file.
pub fn is_source(file: &Path) -> bool {
    pass::language(file).is_ok()
}

/// Returns the directory with the CUDA headers.
fn headers() -> Result<PathBuf> {
    let include_dir = file::root().join("kernels/include");
    let include_dir = fs::canonicalize(&include_dir).unwrap_or(include_dir);
    ensure!(
        include_dir.join("cuda_runtime.h").is_file(),
        "{} not found: cuda-run needs the Warpbook directory in which it was built or installed",
        include_dir.join("cuda_runtime.h").display()
    );
    Ok(include_dir)
}

impl Compiled {
    fn from_cache(entry: Entry) -> Self {
        Compiled {
            file: entry.file,
            diagnostics: entry.diagnostics,
            _dir: None,
        }
    }
}

/// A source and the headers that it may include.
pub struct KernelText<'a> {
    pub source: String,
    /// The names by which headers are included, and their texts.
    pub headers: &'a [(String, String)],
}

/// The result of a compilation.
pub struct CompiledText {
    /// The PTX, or `None` if the source does not compile.
    pub ptx: Option<String>,
    /// clang's messages.
    pub messages: String,
}

/// The name of the file with the source; messages contain the name in its `#line` directive instead.
const FILE_NAME: &str = "kernels.cu";

/// Compiles kernels for the architecture with features of its own that is named next to `arch`, if clang supports it, and
/// otherwise for the newest that clang supports and `arch` includes. May return cached output.
///
/// # Errors
///
/// Fails if there is no clang, a header's name is invalid, or files cannot be written.
pub fn compile_text(
    mut flags: CompileFlags,
    (arch, specific_arch): (Capability, Option<String>),
    text: &KernelText,
) -> Result<CompiledText> {
    let cache = Cache::open();
    let dir = cache::build_dir(cache.as_ref())?;
    let dir = dir.path();
    for (name, header) in text.headers {
        write_header(dir, name, header)?;
    }
    let file = dir.join(FILE_NAME);
    fs::write(&file, &text.source).with_context(|| format!("cannot write {}", file.display()))?;
    flags.include.insert(0, dir.to_owned());
    let mut compiler = Compiler::find(&flags, arch)?;
    let specific = specific_arch.map(|name| Arch::named(&name, compiler.clang.version()));
    if let Some(Ok(arch)) = specific {
        compiler.arch = arch;
    }
    let source = pass::SourceFile::new(&compiler, 0, &file, Goal::Ptx);
    let key = key(&compiler, &source, text, dir)?;
    if let Some(compiled) = cache.as_ref().and_then(|cache| cache.find(&key)) {
        let ptx = fs::read_to_string(&compiled.file)
            .context("cannot read compiled kernels from the cache")?;
        return Ok(CompiledText {
            ptx: Some(ptx),
            messages: compiled.diagnostics,
        });
    }
    let compiled = source.compile(dir)?;
    let messages = without_dir(&compiled.diagnostics, dir);
    let Some(output) = compiled.object else {
        return Ok(CompiledText {
            ptx: None,
            messages: libraries::explain_missing_headers(&messages),
        });
    };
    let ptx =
        fs::read_to_string(&output).with_context(|| format!("cannot read {}", output.display()))?;
    let ptx = without_dir(&ptx, dir);
    let modules = slice::from_ref(&ptx);
    let checked = check_undefined(modules, false);
    if let Err(error) = checked.and_then(|()| compiler.check_instructions(modules)) {
        return Ok(CompiledText {
            ptx: None,
            messages: format!("{messages}{error}\n"),
        });
    }
    fs::write(&output, &ptx).with_context(|| format!("cannot write {}", output.display()))?;
    if let Some(cache) = cache {
        let mut files = compiled.sources;
        files.retain(|file| !file.starts_with(dir));
        cache.store(&key, &output, &files, messages.clone())?;
    }
    Ok(CompiledText {
        ptx: Some(ptx),
        messages,
    })
}

/// Returns the cache key: a hash of everything that determines the output, except the contents of files outside of
/// the temporary directory.
fn key(
    compiler: &Compiler,
    source: &pass::SourceFile,
    text: &KernelText,
    dir: &Path,
) -> Result<String> {
    let mut words = compiler.key_words("text")?;
    let args = source.all_args().into_iter();
    words.extend(args.map(|arg| without_dir(&arg.to_string_lossy(), dir).into()));
    words.push((&text.source).into());
    words.extend(
        text.headers
            .iter()
            .flat_map(|(name, header)| [name.into(), header.into()]),
    );
    Ok(cache::hash_of(&words))
}

/// Writes a header below the directory.
fn write_header(dir: &Path, name: &str, text: &str) -> Result<()> {
    let is_inside = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    ensure!(
        !name.is_empty() && Path::new(name).components().all(is_inside),
        "the include name \"{name}\" is not supported: expected a relative path without \"..\""
    );
    let file = dir.join(name);
    let written = file.parent().map_or(Ok(()), fs::create_dir_all);
    written
        .and_then(|()| fs::write(&file, text))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Removes the temporary directory from the names of files.
fn without_dir(text: &str, dir: &Path) -> String {
    let dir = dir.display().to_string();
    text.replace(&format!("{dir}/"), "").replace(&dir, ".")
}
