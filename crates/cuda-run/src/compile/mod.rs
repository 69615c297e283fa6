//! A program's files, compiled: kernels to PTX, the host's code to an object with the PTX in it, and all
//! objects linked to one library that this program loads.
//!
//! Everything is done by clang; no file of NVIDIA's is used. What was compiled is kept: see [`cache`].

mod arch;
pub mod cache;
mod link;
mod messages;
mod pass;
mod together;
mod undefined;
mod without_body;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use common::gpu::Capability;
use kernel_build::{Clang, install_command};
use tempfile::TempDir;

use crate::flags::Compile;
use arch::Arch;
use cache::{Cache, Entry};

/// What is made of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A library with its host's code and its kernels.
    Library,
    /// The PTX of one file.
    Ptx,
}

/// A program, compiled.
pub struct Compiled {
    /// The library, or the PTX.
    pub file: PathBuf,
    /// What clang remarked.
    pub remarks: String,
    /// Where it lies, where it could not be kept.
    _folder: Option<TempDir>,
}

/// What compiles a program.
pub struct Compiler<'a> {
    pub clang: Clang,
    pub flags: &'a Compile,
    arch: Arch,
    include: PathBuf,
}

impl<'a> Compiler<'a> {
    /// clang, as it is found on this machine, for kernels that a GPU of this capability runs.
    ///
    /// # Errors
    ///
    /// Where there is none, or it knows no such GPU: with what to do.
    pub fn find(flags: &'a Compile, gpu: Capability) -> Result<Self> {
        let clang = Clang::find().map_err(|why| {
            anyhow!(
                "cuda-run compiles with clang, and found none that it can use ({why}).\n\
                 Install it:  {}",
                install_command()
            )
        })?;
        let arch = match &flags.arch {
            Some(name) if name != "native" && name != "all" => Arch::named(name, clang.version()),
            _ => Arch::newest(clang.version(), gpu),
        };
        let include = headers()?;
        Ok(Compiler {
            arch: arch.map_err(anyhow::Error::msg)?,
            clang,
            flags,
            include,
        })
    }

    /// Compiles these files, unless that was done before and none of what they are made of has changed.
    ///
    /// # Errors
    ///
    /// Where one does not compile: clang's own words.
    pub fn compile(&self, files: &[PathBuf], goal: Goal) -> Result<Compiled> {
        for file in files {
            pass::kind(file)?;
            ensure!(file.is_file(), "there is no file {}", file.display());
        }
        let passes = self.passes(files, goal);
        let cache = Cache::open();
        let key = self.key(&passes, goal)?;
        if let Some(found) = cache.as_ref().and_then(|cache| cache.find(&key)) {
            return Ok(found);
        }
        let folder = match &cache {
            Some(cache) => cache.workplace()?,
            None => tempfile::tempdir().context("cannot make a temporary folder")?,
        };
        let made = self.make(&passes, folder.path(), goal)?;
        let read: Vec<PathBuf> = made.read;
        match cache {
            Some(cache) => cache.keep(&key, &made.file, &read, made.remarks),
            None => Ok(Compiled {
                file: made.file,
                remarks: made.remarks,
                _folder: Some(folder),
            }),
        }
    }

    /// All that decides what comes out, but for the contents of files.
    fn key(&self, passes: &[pass::File], goal: Goal) -> Result<String> {
        let here = std::env::current_dir().context("cannot find the current folder")?;
        let mut words = vec![
            OsString::from(cache::FORMAT),
            here.into(),
            self.clang.program().to_owned(),
            self.clang.version().into(),
            format!("{goal:?}").into(),
        ];
        for file in passes {
            words.extend(file.all_words());
        }
        words.extend(link::words(self.flags));
        Ok(cache::hash_of(&words))
    }

    /// Each file by itself, as many at once as there are processors; then all together.
    fn make(&self, files: &[pass::File], folder: &Path, goal: Goal) -> Result<Made> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let processors = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..processors.min(files.len()) {
                scope.spawn(|| {
                    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = file.compile(folder);
                        lock(&done).push((file.number, result));
                    }
                });
            }
        });
        let mut done = std::mem::take(&mut *lock(&done));
        done.sort_by_key(|(number, _)| *number);
        let mut made = Made::default();
        let (mut objects, mut kernels) = (Vec::new(), Vec::new());
        let mut failed = String::new();
        for (_, result) in done {
            let one = result?;
            match one.object {
                Some(object) => objects.push(object),
                None => failed += &one.remarks,
            }
            kernels.extend(one.kernels);
            made.remarks += &one.remarks;
            made.read.extend(one.read);
        }
        if !failed.is_empty() || objects.len() < files.len() {
            bail!(
                "{} does not compile:\n{}",
                self.clang.name(),
                failed.trim_end()
            );
        }
        let linked = goal == Goal::Library && self.flags.link_kernels && !kernels.is_empty();
        if linked {
            kernels = vec![together::ptx(self, &kernels, folder)?];
            objects.push(together::object(self, &kernels[0], &objects, folder)?);
        }
        self.all_defined(&kernels, linked)?;
        made.read.sort();
        made.read.dedup();
        made.file = match goal {
            Goal::Ptx => objects.swap_remove(0),
            Goal::Library => link::library(self, &objects, folder)?,
        };
        Ok(made)
    }

    /// Looks that these modules use nothing that is not defined in them.
    fn all_defined(&self, modules: &[PathBuf], linked: bool) -> Result<()> {
        let mut undefined = Vec::new();
        for module in modules {
            let text = fs::read_to_string(module)
                .with_context(|| format!("cannot read {}", module.display()))?;
            undefined.extend(undefined::undefined(&text));
        }
        if undefined.is_empty() {
            return Ok(());
        }
        let remedy = match linked || modules.len() < 2 {
            true => "",
            false => {
                "\nKernels use what stands in another file where all are linked, with -rdc=true."
            }
        };
        bail!(
            "the kernels use what no file defines for the GPU:\n{}{remedy}",
            undefined.join("\n")
        );
    }

    fn passes(&self, files: &[PathBuf], goal: Goal) -> Vec<pass::File> {
        let numbered = files.iter().enumerate();
        let each = numbered.map(|(number, file)| pass::File::new(self, number, file, goal));
        each.collect()
    }
}

/// What was made of files.
#[derive(Default)]
struct Made {
    file: PathBuf,
    remarks: String,
    read: Vec<PathBuf>,
}

/// CUDA's headers, which lie in the folder of the workspace that this program was built in.
fn headers() -> Result<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = ours.join("../../kernels/include");
    let place = fs::canonicalize(&place).unwrap_or(place);
    ensure!(
        place.join("cuda_runtime.h").is_file(),
        "there is no {}: cuda-run needs the folder of Warpbook that it was built in",
        place.join("cuda_runtime.h").display()
    );
    Ok(place)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Compiled {
    fn kept(entry: Entry) -> Self {
        Compiled {
            file: entry.file,
            remarks: entry.remarks,
            _folder: None,
        }
    }
}
