//! The student's folder: one file per exercise, and the progress.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use kernel_build::Tree;

use crate::course::{self, EXERCISES};
use crate::exercise::Exercise;
use crate::files::{write_new, write_whole};
use crate::lang::Lang;
use crate::progress::Progress;
use crate::text::in_a_line;

/// The maximum size of a submission in bytes, about a hundred times that of the course's files.
const MAX_BYTES: u64 = 256 << 10;

/// The flags that editors' clangd compiles submissions with, one per line; the include path is appended.
const EDITOR_FLAGS: &str =
    "-xcuda\n--cuda-device-only\n--cuda-gpu-arch=sm_52\n-nocudainc\n-nocudalib\n";

/// The student's folder.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder's path.
    pub path: PathBuf,
}

impl Workspace {
    /// Opens the folder at `path`; by default `exercises` in the root of the checkout, or a subfolder of it
    /// for a teacher's course. Creates the folder and missing start files.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be created or written to.
    pub fn open(path: Option<&Path>) -> Result<Workspace> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => {
                let default = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR")))?
                    .root()
                    .join("exercises");
                match course::custom::path().and_then(Path::file_name) {
                    Some(name) => default.join(name),
                    None => default,
                }
            }
        };
        fs::create_dir_all(&path).with_context(|| display_path(&path))?;
        let workspace = Workspace { path };
        workspace.write_editor_flags();
        for exercise in &EXERCISES {
            let file = workspace.file(exercise);
            if !file.exists() {
                write_new(&file, exercise.start)?;
            }
        }
        Ok(workspace)
    }

    /// Writes `compile_flags.txt` for clangd, which most editors use: clang's flags and the path of the
    /// course's headers. Without it, editors mark every kernel as erroneous. A file with other contents is
    /// left unchanged, and errors are ignored because the file is optional.
    fn write_editor_flags(&self) {
        let Ok(tree) = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))) else {
            return;
        };
        let file = self.path.join("compile_flags.txt");
        let headers = tree.root().join("kernels");
        let text = format!("{}-I{}\n", EDITOR_FLAGS, headers.display());
        match fs::read_to_string(&file) {
            Ok(existing) if existing == text || !existing.starts_with(EDITOR_FLAGS) => {}
            // The checkout has moved, so the include path is outdated.
            Ok(_) => drop(write_whole(&file, &text)),
            Err(_) => drop(write_new(&file, &text)),
        }
    }

    /// Returns the path of the submission to an exercise.
    pub fn file(&self, exercise: &Exercise) -> PathBuf {
        self.path.join(exercise.file())
    }

    /// Returns the path of the submission for messages, relative to the current directory if possible.
    pub fn display_path(&self, exercise: &Exercise) -> String {
        display_path(&self.file(exercise))
    }

    /// Reads the student's progress.
    ///
    /// # Errors
    ///
    /// Fails as [`Progress::read`] does.
    pub fn progress(&self, lang: Lang) -> Result<Progress> {
        Progress::read(&self.path.join(Progress::FILE), lang)
    }

    /// Changes and saves the progress without losing the changes of concurrent commands.
    ///
    /// # Errors
    ///
    /// Fails as [`Progress::change`] does.
    pub fn change(&self, lang: Lang, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        Progress::change(&self.path.join(Progress::FILE), lang, change)
    }

    /// Restores the start file. Returns the new, unused name under which the previous contents are saved;
    /// `None` if the file was missing or unchanged.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written.
    pub fn reset(&self, exercise: &Exercise) -> Result<Option<PathBuf>> {
        let file = self.file(exercise);
        if fs::read(&file).is_ok_and(|text| text == exercise.start.as_bytes()) {
            return Ok(None);
        }
        let backup = unused_path(&file.with_file_name(format!("{}.old", exercise.file())));
        let saved = match fs::rename(&file, &backup) {
            Ok(()) => Some(backup),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| display_path(&backup)),
        };
        write_whole(&file, exercise.start)?;
        Ok(saved)
    }
}

/// Returns this path if it is unused, otherwise the first unused one with a number appended.
fn unused_path(path: &Path) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    let mut names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    let unused_path = names.find(|name| fs::symlink_metadata(name).is_err());
    unused_path.unwrap_or_else(|| path.to_owned())
}

/// Formats a path for messages in one line, relative to the current directory if it is below it.
pub fn display_path(path: &Path) -> String {
    let working_folder = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&working_folder).unwrap_or(path);
    in_a_line(&relative.display().to_string()).into_owned()
}

/// Reads the text of a submission, whose file is called `named` in messages.
///
/// # Errors
///
/// Fails if the file cannot be read, is not UTF-8, or is too long.
pub fn read_text(path: &Path, named: &str, lang: Lang) -> Result<String> {
    let named = || named.to_owned();
    let file = File::open(path).with_context(named)?;
    let mut bytes = Vec::new();
    // Limit the length, because a device file may be endless.
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.with_context(named)?;
    anyhow::ensure!(
        bytes.len() as u64 <= MAX_BYTES,
        localize!(
            lang,
            "{} is too long: a submission has at most {} bytes",
            "{} 过长：答案最多 {} 字节";
            named(), MAX_BYTES
        )
    );
    String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(localize!(
            lang,
            "{} is not valid UTF-8: save it in that encoding",
            "{} 不是 UTF-8 编码的文本：请以 UTF-8 编码保存";
            named()
        ))
    })
}
