//! Programs read some files at run time: headers, and sources for listings. They belong to the installation that
//! contains the program, or to the checkout in which it was built.
//!
//! An installation is a directory with `bin/`, `lib/` and `share/warpbook/`, as in a release archive. It can be moved.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the directory of the installation that contains this program; `None` in a checkout.
pub fn prefix() -> Option<PathBuf> {
    let program = env::current_exe().ok()?.canonicalize().ok()?;
    let prefix = program.parent()?.parent()?;
    let is_installed = prefix.join(SHARE).join("kernels").is_dir();
    is_installed.then(|| prefix.to_owned())
}

/// The files of an installation that are not programs or libraries, relative to its directory.
const SHARE: &str = "share/warpbook";

/// Returns the directory that contains `kernels`.
pub fn root() -> PathBuf {
    let checkout = || {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = crate_folder.ancestors().nth(4).unwrap_or(crate_folder);
        root.to_owned()
    };
    prefix().map_or_else(checkout, |prefix| prefix.join(SHARE))
}

/// Returns the words with which the user starts a program of this workspace, for messages: `exercises`, or
/// `cargo run -p exercises --` in a checkout. The Python package's command sets the variable.
pub fn command(program: &str) -> String {
    match (env::var("WARPBOOK_COMMAND"), prefix()) {
        (Ok(words), _) if !words.is_empty() => words,
        (_, Some(_)) => program.to_owned(),
        (_, None) => format!("cargo run -p {program} --"),
    }
}
