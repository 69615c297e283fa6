//! The source text of kernels, located by its file name in the PTX.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns the lines of `file`, whose name in the PTX is relative to the repository. The file is searched in
/// the current folder and its parents, then in the workspace that this program was built from.
///
/// # Errors
///
/// Returns a sentence that lists the places where the file was searched.
pub fn lines(file: &str) -> Result<Vec<String>, String> {
    let current = env::current_dir().unwrap_or_default();
    let mut folders: Vec<&Path> = current.ancestors().collect();
    let built_in = workspace();
    folders.push(&built_in);
    read(file, &folders).ok_or_else(|| {
        format!(
            "Cannot find {file} in this folder, its parents or {}: run the program where the file is \
             to see the source lines.",
            built_in.display()
        )
    })
}

/// Reads the first file named `file` in `folders`.
fn read(file: &str, folders: &[&Path]) -> Option<Vec<String>> {
    let mut paths = folders.iter().map(|folder| folder.join(file));
    let bytes = paths.find_map(|path| fs::read(path).ok())?;
    let text = String::from_utf8_lossy(&bytes);
    Some(
        text.lines()
            .map(|line| line.replace('\t', "    "))
            .collect(),
    )
}

/// Returns the root folder of the workspace.
fn workspace() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder
        .ancestors()
        .nth(3)
        .unwrap_or(crate_folder)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_this_workspace_is_found() {
        let lines = lines("kernels/vector-add.cu").unwrap();
        assert!(lines.iter().any(|line| line.contains("__global__")));
    }

    #[test]
    fn a_missing_file_is_reported_with_the_searched_folders() {
        let message = lines("kernels/no-such-kernel.cu").unwrap_err();
        assert!(message.contains("Cannot find kernels/no-such-kernel.cu in this folder"));
        assert!(
            message.contains(&workspace().display().to_string()),
            "{message}"
        );
    }

    #[test]
    fn the_first_folder_that_has_it_wins() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let folders = [first.path(), second.path()];
        assert_eq!(read("k.cu", &folders), None);
        fs::write(second.path().join("k.cu"), "second\n").unwrap();
        assert_eq!(read("k.cu", &folders).unwrap(), ["second"]);
        fs::write(first.path().join("k.cu"), "\tfirst\r\n\u{e9}\n").unwrap();
        assert_eq!(read("k.cu", &folders).unwrap(), ["    first", "\u{e9}"]);
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("k.cu"), b"\xff\n").unwrap();
        assert_eq!(read("k.cu", &[folder.path()]).unwrap(), ["\u{fffd}"]);
        // A folder of that name has no text.
        fs::create_dir(folder.path().join("d.cu")).unwrap();
        assert_eq!(read("d.cu", &[folder.path()]), None);
    }
}
