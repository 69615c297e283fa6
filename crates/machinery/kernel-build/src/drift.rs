//! Whether the committed PTX is what the pinned clang makes of the sources.

use std::fmt;
use std::fs;

use crate::clang::{Clang, PINNED_VERSION};
use crate::tree::{ptx_file, source_file};
use crate::{Error, Tree, stamp};

/// How many differing lines are shown.
const SHOWN: usize = 5;

/// A committed PTX file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drift {
    /// A kernel without PTX.
    Missing {
        /// The kernel.
        name: String,
    },
    /// PTX whose kernel is gone.
    Orphan {
        /// The kernel that was.
        name: String,
    },
    /// PTX other than the compiler makes.
    Different {
        /// The kernel.
        name: String,
        /// The first line that differs, counted from 1.
        line: usize,
        /// Lines from there on as committed.
        committed: Vec<String>,
        /// Lines from there on as compiled now.
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
                    "{file} differs from line {line} on (- committed, + compiled)"
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

/// Compiles every kernel and compares: what has drifted, nothing if all is well.
/// Refuses a clang other than the pinned one unless `any_clang`.
pub fn check(tree: &Tree, any_clang: bool) -> Result<Vec<Drift>, Error> {
    let found = survey(tree, any_clang)?;
    Ok(found.into_iter().map(|(drift, _)| drift).collect())
}

/// Compiles every kernel and makes the committed PTX follow. Returns what had
/// drifted and now is right.
/// Refuses a clang other than the pinned one unless `any_clang`.
pub fn write(tree: &Tree, any_clang: bool) -> Result<Vec<Drift>, Error> {
    let mut drifts = Vec::new();
    for (drift, compiled) in survey(tree, any_clang)? {
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

/// Every drift, with the text the file should have; `None` where it should not be.
fn survey(tree: &Tree, any_clang: bool) -> Result<Vec<(Drift, Option<String>)>, Error> {
    let clang = pinned(any_clang)?;
    let kernels = tree.kernels()?;
    let mut found = Vec::new();
    for name in tree.committed()? {
        if !kernels.contains(&name) {
            found.push((Drift::Orphan { name }, None));
        }
    }
    for name in kernels {
        let compiled = compile(tree, &clang, &name)?;
        let drift = match read(tree, &name)? {
            None => Some(Drift::Missing { name }),
            Some(committed) => compare(name, &committed, &compiled),
        };
        found.extend(drift.map(|drift| (drift, Some(compiled))));
    }
    Ok(found)
}

fn pinned(any_clang: bool) -> Result<Clang, Error> {
    let clang = Clang::find().map_err(|reason| Error::NoClang { reason })?;
    if any_clang || clang.version() == PINNED_VERSION {
        Ok(clang)
    } else {
        Err(Error::NotPinned {
            found: clang.version().to_owned(),
        })
    }
}

fn compile(tree: &Tree, clang: &Clang, name: &str) -> Result<String, Error> {
    let sources = tree.sources(name)?;
    let (ptx, _warnings) = clang.compile(tree, name)?;
    let made_from = source_file(name);
    Ok(stamp::stamp(
        &made_from,
        sources.hash(),
        &clang.name(),
        &ptx,
    ))
}

/// The committed PTX; line endings are git's business. `None` if there is none.
fn read(tree: &Tree, name: &str) -> Result<Option<String>, Error> {
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
    let same = old.clone().zip(new.clone()).take_while(|(a, b)| a == b);
    let same = same.count();
    let shown = |lines: std::str::Lines<'_>| {
        let lines = lines.skip(same).take(SHOWN);
        lines.map(str::to_owned).collect()
    };
    Some(Drift::Different {
        name,
        line: same + 1,
        committed: shown(old),
        compiled: shown(new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_starts_at_the_first_line_that_differs() {
        assert_eq!(compare("a".into(), "x\ny\n", "x\ny\n"), None);
        let drift = compare("a".into(), "x\ny\nz\n", "x\nY\n").expect("a difference");
        assert_eq!(
            drift.to_string(),
            "kernels/ptx/a.ptx differs from line 2 on (- committed, + compiled)\n-y\n-z\n+Y"
        );
    }
}
