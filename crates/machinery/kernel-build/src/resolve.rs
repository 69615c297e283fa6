//! Which PTX a build uses: the committed one while it is up to date, a fresh one else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::clang::Clang;
use crate::nvrtc::Nvrtc;
use crate::sources::Sources;
use crate::stamp;
use crate::tree::source_file;
use crate::{Error, Tree};

/// PTX to use, and what its compiler remarked, if it was compiled just now.
#[derive(Debug)]
pub struct Found {
    pub path: PathBuf,
    pub remarks: String,
}

/// Finds or makes the PTX of a kernel; fresh PTX goes to `out_dir`.
pub fn resolve(tree: &Tree, sources: &Sources, out_dir: &Path) -> Result<Found, Error> {
    let committed = tree.ptx(sources.name());
    // What cannot be read is not up to date; a compiler can replace it.
    let text = fs::read_to_string(&committed).unwrap_or_default();
    if stamp::hash(&text) == Some(sources.hash()) {
        return Ok(Found {
            path: committed,
            remarks: String::new(),
        });
    }

    let (compiler, ptx, remarks) = compile(tree, sources.name())?;
    let made_from = source_file(sources.name());
    let text = stamp::stamp(&made_from, sources.hash(), &compiler, &ptx);
    let path = out_dir.join(format!("{}.ptx", sources.name().replace('/', "-")));
    fs::write(&path, text).map_err(Error::io(&path))?;
    Ok(Found { path, remarks })
}

/// Compiles with clang, or failing that with NVRTC. Returns the compiler's name, the
/// PTX and the remarks.
fn compile(tree: &Tree, name: &str) -> Result<(String, String, String), Error> {
    let clang = match Clang::find() {
        Ok(clang) => {
            let (ptx, warnings) = clang.compile(tree, name)?;
            return Ok((clang.name(), ptx, warnings));
        }
        Err(why) => why,
    };
    match Nvrtc::find() {
        Ok(nvrtc) => {
            let (ptx, warnings) = nvrtc.compile(tree, name)?;
            let remark = format!(
                "kernels/{name}.cu was compiled by {}; \
                 to run it on the simulator too, install clang: {}\n{warnings}",
                nvrtc.name(),
                crate::clang::install_command()
            );
            Ok((nvrtc.name(), ptx, remark))
        }
        Err(nvrtc) => Err(Error::NoCompiler {
            name: name.to_owned(),
            clang,
            nvrtc,
        }),
    }
}
