//! The choice between the committed PTX, if it is up to date, and newly compiled PTX.

use std::fs;
use std::path::{Path, PathBuf};

use crate::clang::Clang;
use crate::nvrtc::Nvrtc;
use crate::sources::Sources;
use crate::stamp;
use crate::tree::source_file;
use crate::{Error, Tree};

/// The PTX to use, and the compiler's warnings if it was compiled just now.
#[derive(Debug)]
pub struct ResolvedPtx {
    pub path: PathBuf,
    pub warnings: String,
}

/// Finds or compiles the PTX of a kernel. New PTX is written to `out_dir`.
pub fn resolve(tree: &Tree, sources: &Sources, out_dir: &Path) -> Result<ResolvedPtx, Error> {
    let committed = tree.ptx(sources.name());
    // An unreadable file counts as out of date, because a compiler can replace it.
    let text = fs::read_to_string(&committed).unwrap_or_default();
    if stamp::hash(&text) == Some(sources.hash()) {
        return Ok(ResolvedPtx {
            path: committed,
            warnings: String::new(),
        });
    }

    let (compiler, ptx, warnings) = compile(tree, sources.name())?;
    let source_path = source_file(sources.name());
    let text = stamp::stamp(&source_path, sources.hash(), &compiler, &ptx);
    let path = out_dir.join(format!("{}.ptx", sources.name().replace('/', "-")));
    fs::write(&path, text).map_err(Error::io(&path))?;
    Ok(ResolvedPtx { path, warnings })
}

/// Compiles with clang, or else with NVRTC. Returns the compiler's name, the PTX and the warnings.
fn compile(tree: &Tree, name: &str) -> Result<(String, String, String), Error> {
    let clang = match Clang::find() {
        Ok(clang) => {
            let (ptx, warnings) = clang.compile(tree, name)?;
            return Ok((clang.name(), ptx, warnings));
        }
        Err(reason) => reason,
    };
    match Nvrtc::find() {
        Ok(nvrtc) => {
            let (ptx, warnings) = nvrtc.compile(tree, name)?;
            let warning = format!(
                "kernels/{name}.cu was compiled by {}; \
                 to run it on the simulator too, install clang: {}\n{warnings}",
                nvrtc.name(),
                crate::clang::install_command()
            );
            Ok((nvrtc.name(), ptx, warning))
        }
        Err(nvrtc) => Err(Error::NoCompiler {
            name: name.to_owned(),
            clang,
            nvrtc,
        }),
    }
}
