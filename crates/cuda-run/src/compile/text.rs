//! Kernels that a running program compiles with NVRTC: their source and headers are texts in memory.

use std::path::{Component, Path};
use std::{fs, slice};

use anyhow::{Context as _, Result, ensure};
use common::gpu::Capability;

use super::arch::Arch;
use super::cache::{self, Cache};
use super::{Compiler, Goal, check_undefined, libraries, pass};
use crate::flags::CompileFlags;

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
