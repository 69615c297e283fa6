//! The student's folder: a file for each exercise, and how far the student is.

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

/// The longest answer that is read. Those of the course have a hundredth of it.
const LONGEST: u64 = 256 << 10;

/// What an editor's clang is told of an answer, a flag a line; where the headers are follows.
const EDITORS_FLAGS: &str =
    "-xcuda\n--cuda-device-only\n--cuda-gpu-arch=sm_52\n-nocudainc\n-nocudalib\n";

/// The student's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
}

impl Folder {
    /// The one at `path`, or else `exercises` in the checkout's root, and in it a folder for each course of a
    /// teacher's own. It is made, with the start files
    /// that are not there yet.
    ///
    /// # Errors
    ///
    /// Where it cannot be made or written to.
    pub fn open(path: Option<&Path>) -> Result<Folder> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => {
                let ours = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR")))?
                    .root()
                    .join("exercises");
                match course::folder::path().and_then(Path::file_name) {
                    Some(name) => ours.join(name),
                    None => ours,
                }
            }
        };
        fs::create_dir_all(&path).with_context(|| shown(&path))?;
        let folder = Folder { path };
        folder.tell_editors();
        for exercise in &EXERCISES {
            let file = folder.file(exercise);
            if !file.exists() {
                write_new(&file, exercise.start)?;
            }
        }
        Ok(folder)
    }

    /// Writes what clangd, and with it most editors, compile the answers with: clang's flags, and where the
    /// course's headers are. Without it they underline every kernel. A file that somebody else wrote stays, and
    /// that it cannot be written keeps nobody from working.
    fn tell_editors(&self) {
        let Ok(tree) = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))) else {
            return;
        };
        let file = self.path.join("compile_flags.txt");
        let headers = tree.root().join("kernels");
        let text = format!("{}-I{}\n", EDITORS_FLAGS, headers.display());
        match fs::read_to_string(&file) {
            Ok(known) if known == text || !known.starts_with(EDITORS_FLAGS) => {}
            // A checkout that was moved has its headers elsewhere.
            Ok(_) => drop(write_whole(&file, &text)),
            Err(_) => drop(write_new(&file, &text)),
        }
    }

    /// Where the answer to an exercise is.
    pub fn file(&self, exercise: &Exercise) -> PathBuf {
        self.path.join(exercise.file())
    }

    /// The file in words: from where the student is, if that is shorter.
    pub fn shown(&self, exercise: &Exercise) -> String {
        shown(&self.file(exercise))
    }

    /// How far the student is.
    ///
    /// # Errors
    ///
    /// As [`Progress::read`].
    pub fn progress(&self, lang: Lang) -> Result<Progress> {
        Progress::read(&self.path.join(Progress::FILE), lang)
    }

    /// Changes and keeps it; what another check keeps at the same time is not lost.
    ///
    /// # Errors
    ///
    /// As [`Progress::change`].
    pub fn change(&self, lang: Lang, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        Progress::change(&self.path.join(Progress::FILE), lang, change)
    }

    /// Puts the start file back. What was there is kept beside it, under the name that is returned, a new
    /// one each time; a start file that nobody has changed need not be.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written.
    pub fn reset(&self, exercise: &Exercise) -> Result<Option<PathBuf>> {
        let file = self.file(exercise);
        if fs::read(&file).is_ok_and(|text| text == exercise.start.as_bytes()) {
            return Ok(None);
        }
        let old = free(&file.with_file_name(format!("{}.old", exercise.file())));
        let kept = match fs::rename(&file, &old) {
            Ok(()) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| shown(&old)),
        };
        write_whole(&file, exercise.start)?;
        Ok(kept)
    }
}

/// This path, or with a number the first that nothing has.
fn free(path: &Path) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    let mut names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    let free = names.find(|name| fs::symlink_metadata(name).is_err());
    free.unwrap_or_else(|| path.to_owned())
}

/// A path in words, in a line: from where the program runs, if it is below.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    in_a_line(&shown.display().to_string()).into_owned()
}

/// The text of an answer, whose file is called `named` in messages.
///
/// # Errors
///
/// Where it cannot be read, is no text, or is longer than any answer.
pub fn read(path: &Path, named: &str, lang: Lang) -> Result<String> {
    let named = || named.to_owned();
    let file = File::open(path).with_context(named)?;
    let mut bytes = Vec::new();
    // A device may have no end.
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.with_context(named)?;
    anyhow::ensure!(
        bytes.len() as u64 <= LONGEST,
        say!(
            lang,
            "{} has more bytes than an answer may have, which is {}",
            "{} 的字节数超过了答案的上限 {}";
            named(), LONGEST
        )
    );
    String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(say!(
            lang,
            "{} is no text in UTF-8: save it in that encoding",
            "{} 不是 UTF-8 编码的文本：请以 UTF-8 编码保存";
            named()
        ))
    })
}
