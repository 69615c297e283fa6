//! The committed PTX: the stamp at its top, its use in builds as long as it is up to date, and its comparison with
//! the pinned clang's output.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use crate::clang::Clang;
use crate::error::{Error, PINNED_VERSION, install_command};
use crate::nvrtc::Nvrtc;
use crate::tree::{Sources, Tree, ptx_file, source_file};

const SOURCES: &str = "// sources sha256 ";
const COMPILER: &str = "// compiler ";

/// Prepends the stamp to newly compiled `ptx`. `source_path` is the kernel's file, `compiler` its name and
/// version.
fn stamp(source_path: &str, hash: &str, compiler: &str, ptx: &str) -> String {
    format!(
        "// {source_path}, compiled; edit that instead\n{SOURCES}{hash}\n{COMPILER}{compiler}\n{ptx}"
    )
}

/// Returns the source hash in a stamp, or `None` if there is no stamp.
fn hash_in_stamp(ptx: &str) -> Option<&str> {
    let mut lines = ptx.lines().take_while(|line| line.starts_with("//"));
    lines
        .find_map(|line| line.strip_prefix(SOURCES))
        .map(str::trim_end)
}

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
    if hash_in_stamp(&text) == Some(sources.hash()) {
        return Ok(ResolvedPtx {
            path: committed,
            warnings: String::new(),
        });
    }

    let (compiler, ptx, warnings) = compile_with_any(tree, sources.name())?;
    let source_path = source_file(sources.name());
    let text = stamp(&source_path, sources.hash(), &compiler, &ptx);
    let path = out_dir.join(format!("{}.ptx", sources.name().replace('/', "-")));
    fs::write(&path, text).map_err(Error::io(&path))?;
    Ok(ResolvedPtx { path, warnings })
}

/// Compiles with clang, or else with NVRTC. Returns the compiler's name, the PTX and the warnings.
fn compile_with_any(tree: &Tree, name: &str) -> Result<(String, String, String), Error> {
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
                install_command()
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

/// The maximum number of differing lines to print.
const MAX_LINES: usize = 5;

/// A discrepancy between the committed PTX and the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drift {
    /// A kernel without PTX.
    Missing {
        /// The kernel.
        name: String,
    },
    /// PTX whose kernel no longer exists.
    Orphan {
        /// The former kernel.
        name: String,
    },
    /// PTX that differs from the compiler's output.
    Different {
        /// The kernel.
        name: String,
        /// The first line that differs, counted from 1.
        line: usize,
        /// The following lines as committed.
        committed: Vec<String>,
        /// The following lines as compiled now.
        compiled: Vec<String>,
    },
}

impl Drift {
    fn name(&self) -> &str {
        match self {
            Self::Missing { name } | Self::Orphan { name } | Self::Different { name, .. } => name,
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name } => write!(f, "{} is missing", ptx_file(name)),
            Self::Orphan { name } => write!(f, "{} has no kernel", ptx_file(name)),
            Self::Different {
                name,
                line,
                committed,
                compiled,
            } => {
                let file = ptx_file(name);
                write!(
                    f,
                    "{file} differs starting at line {line} (- committed, + compiled)"
                )?;
                for text in committed {
                    write!(f, "\n-{text}")?;
                }
                for text in compiled {
                    write!(f, "\n+{text}")?;
                }
                Ok(())
            }
        }
    }
}

/// Compiles every kernel and returns all differences from the committed PTX. Rejects a clang other than the
/// pinned one unless `any_clang` is set.
pub fn check(tree: &Tree, any_clang: bool) -> Result<Vec<Drift>, Error> {
    let drifts = find_drifts(tree, any_clang)?;
    Ok(drifts.into_iter().map(|(drift, _)| drift).collect())
}

/// Compiles every kernel and updates the committed PTX. Returns the discrepancies that it corrected. Rejects
/// a clang other than the pinned one unless `any_clang` is set.
pub fn write(tree: &Tree, any_clang: bool) -> Result<Vec<Drift>, Error> {
    let mut drifts = Vec::new();
    for (drift, compiled) in find_drifts(tree, any_clang)? {
        let path = tree.ptx(drift.name());
        match compiled {
            Some(text) => {
                if let Some(dir) = path.parent() {
                    fs::create_dir_all(dir).map_err(Error::io(dir))?;
                }
                fs::write(&path, text).map_err(Error::io(&path))?;
            }
            None => fs::remove_file(&path).map_err(Error::io(&path))?,
        }
        drifts.push(drift);
    }
    Ok(drifts)
}

/// Returns every discrepancy with the file's correct text, or `None` if the file should not exist.
fn find_drifts(tree: &Tree, any_clang: bool) -> Result<Vec<(Drift, Option<String>)>, Error> {
    let clang = pinned_clang(any_clang)?;
    let kernels = tree.kernels()?;
    let mut drifts = Vec::new();
    for name in tree.committed()? {
        if !kernels.contains(&name) {
            drifts.push((Drift::Orphan { name }, None));
        }
    }
    for name in kernels {
        let compiled = compile_stamped(tree, &clang, &name)?;
        let drift = match read_committed(tree, &name)? {
            None => Some(Drift::Missing { name }),
            Some(committed) => compare(name, &committed, &compiled),
        };
        drifts.extend(drift.map(|drift| (drift, Some(compiled))));
    }
    Ok(drifts)
}

fn pinned_clang(any_clang: bool) -> Result<Clang, Error> {
    let clang = Clang::find().map_err(|reason| Error::NoClang { reason })?;
    if any_clang || clang.version() == PINNED_VERSION {
        Ok(clang)
    } else {
        Err(Error::NotPinned {
            found: clang.version().to_owned(),
        })
    }
}

fn compile_stamped(tree: &Tree, clang: &Clang, name: &str) -> Result<String, Error> {
    let sources = tree.sources(name)?;
    let (ptx, _warnings) = clang.compile(tree, name)?;
    let source = source_file(name);
    Ok(stamp(&source, sources.hash(), &clang.name(), &ptx))
}

/// Reads the committed PTX with normalized line endings. Returns `None` if there is none.
fn read_committed(tree: &Tree, name: &str) -> Result<Option<String>, Error> {
    let path = tree.ptx(name);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    Ok(Some(text.replace("\r\n", "\n")))
}

fn compare(name: String, committed: &str, compiled: &str) -> Option<Drift> {
    if committed == compiled {
        return None;
    }
    let (old, new) = (committed.lines(), compiled.lines());
    let common_lines = old.clone().zip(new.clone()).take_while(|(a, b)| a == b);
    let common_lines = common_lines.count();
    let excerpt = |lines: std::str::Lines<'_>| {
        let lines = lines.skip(common_lines).take(MAX_LINES);
        lines.map(str::to_owned).collect()
    };
    Some(Drift::Different {
        name,
        line: common_lines + 1,
        committed: excerpt(old),
        compiled: excerpt(new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back() {
        let text = stamp("kernels/a.cu", "0f1e", "clang 14.0.6", ".version 6.4\n");
        assert_eq!(hash_in_stamp(&text), Some("0f1e"));
        assert!(text.ends_with("// compiler clang 14.0.6\n.version 6.4\n"));
        assert_eq!(hash_in_stamp(&text.replace('\n', "\r\n")), Some("0f1e"));
    }

    #[test]
    fn only_the_first_comment_is_a_stamp() {
        assert_eq!(hash_in_stamp(""), None);
        assert_eq!(
            hash_in_stamp(".version 6.4\n// sources sha256 0f1e\n"),
            None
        );
    }

    #[test]
    fn a_difference_starts_at_the_first_line_that_differs() {
        assert_eq!(compare("a".into(), "x\ny\n", "x\ny\n"), None);
        let drift = compare("a".into(), "x\ny\nz\n", "x\nY\n").expect("a difference");
        assert_eq!(
            drift.to_string(),
            "kernels/ptx/a.ptx differs starting at line 2 (- committed, + compiled)\n-y\n-z\n+Y"
        );
    }
}
