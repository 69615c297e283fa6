//! The output files of a class: validated before grading, written after it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::file::{can_write_into, folder_of};

use crate::files::write_whole;
use crate::folder::shown;
use crate::lang::{Lang, tr};

/// Inputs that results must not overwrite.
#[derive(Clone, Copy, Debug)]
pub enum Kept<'a> {
    /// The class's folder with all its files.
    Class(&'a Path),
    /// The records that are merged.
    Records(&'a [PathBuf]),
}

/// The files that results are written to.
#[derive(Clone, Debug)]
pub struct ResultFiles {
    out: Option<PathBuf>,
    csv: Option<PathBuf>,
    copies: Option<PathBuf>,
}

impl ResultFiles {
    /// Validates the files named by `--out`, `--csv` and `--copies`, and the folder named by `--feedback`.
    /// They are written only after all the work is done, so every problem is reported now.
    ///
    /// # Errors
    ///
    /// Fails if a file is not a regular file, is an input, or cannot be written, or if two flags name the
    /// same file.
    pub fn new(
        named: [(&str, Option<&Path>); 3],
        feedback: Option<&Path>,
        kept: Kept<'_>,
        lang: Lang,
    ) -> Result<ResultFiles> {
        let mut places: Vec<(&str, PathBuf)> = Vec::new();
        for (flag, path) in named {
            let Some(path) = path else { continue };
            let named = format!("{flag} {}", shown(path));
            let place = place(&named, path, lang)?;
            refuse(&named, &place, kept, lang)?;
            if let Some((other, _)) = places.iter().find(|(_, known)| *known == place) {
                bail!(say!(
                    lang,
                    "{} and {} name the same file: give each its own",
                    "{} 和 {} 是同一个文件：请分别指定";
                    other, flag
                ));
            }
            places.push((flag, place));
        }
        if let Some(folder) = feedback {
            super::feedback::prepared(folder, kept, lang)?;
        }
        let [out, csv, copies] = named.map(|(_, path)| path.map(Path::to_owned));
        Ok(ResultFiles { out, csv, copies })
    }

    /// Returns the file for pairs of similar submissions.
    pub fn copies(&self) -> Option<&Path> {
        self.copies.as_deref()
    }

    /// Writes the table of similar submissions.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn write_copies(&self, table: &str) -> Result<()> {
        match &self.copies {
            Some(path) => write_whole(path, table),
            None => Ok(()),
        }
    }

    /// Writes the record and the table, replacing files created in the meantime. A failure to write one does
    /// not prevent the other from being written.
    ///
    /// # Errors
    ///
    /// Fails if either cannot be written.
    pub fn write(&self, record: &str, table: &str) -> Result<()> {
        let write = |path: &Option<PathBuf>, text| match path {
            Some(path) => write_whole(path, text),
            None => Ok(()),
        };
        let written = write(&self.out, record);
        write(&self.csv, table).and(written)
    }
}

/// Returns the file's canonical path, after checking that it can be written.
fn place(named: &str, path: &Path, lang: Lang) -> Result<PathBuf> {
    let folder = folder_of(path);
    ensure!(
        folder.is_dir(),
        say!(
            lang,
            "{}: there is no folder {}; make it first, or choose another",
            "{}：没有文件夹 {}；请先创建，或换一个位置";
            named, shown(folder)
        )
    );
    let is_file = match fs::symlink_metadata(path) {
        Ok(there) => there.is_file(),
        Err(error) if error.kind() == ErrorKind::NotFound => ends_in_a_name(path),
        Err(error) => return Err(error).with_context(|| named.to_owned()),
    };
    ensure!(
        is_file,
        say!(
            lang,
            "{} is no ordinary file, and nothing else is written to: no folder, device or link; choose another \
             name",
            "{} 不是普通文件；结果不会写入文件夹、设备或链接，请换一个名字";
            named
        )
    );
    can_write_into(folder).map_err(|why| {
        anyhow!(say!(
            lang,
            "{}: nothing can be written into {}: {}",
            "{}：无法写入 {}：{}";
            named, shown(folder), why
        ))
    })?;
    whole(path).with_context(|| named.to_owned())
}

/// Returns true if the path can name a new file; `results/` names a folder.
fn ends_in_a_name(path: &Path) -> bool {
    let written = path.as_os_str().as_encoded_bytes();
    let last = written.last().copied().map(char::from);
    let last = last.is_some_and(|last| !std::path::is_separator(last));
    last && matches!(path.components().next_back(), Some(Component::Normal(_)))
}

/// Returns the path without symbolic links, so that two spellings of one file compare equal.
fn whole(path: &Path) -> std::io::Result<PathBuf> {
    if path.exists() {
        return fs::canonicalize(path);
    }
    let folder = fs::canonicalize(folder_of(path))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

fn refuse(named: &str, place: &Path, kept: Kept<'_>, lang: Lang) -> Result<()> {
    match kept {
        Kept::Class(folder) => {
            let whole = fs::canonicalize(folder).with_context(|| shown(folder))?;
            ensure!(
                !place.starts_with(whole),
                say!(
                    lang,
                    "{} is in the class's folder {}, where the answers are: choose a place outside",
                    "{} 在全班的文件夹 {} 里，那里放的是答案：请换到外面";
                    named, shown(folder)
                )
            );
        }
        Kept::Records(records) => {
            let same = |record: &&PathBuf| fs::canonicalize(record).is_ok_and(|it| it == place);
            if records.iter().any(|record| same(&record)) {
                bail!(say!(
                    lang,
                    "{} is one of the records that are merged: choose another name",
                    "{} 是要合并的记录之一：请换一个名字";
                    named
                ));
            }
        }
    }
    Ok(())
}

/// Returns the error context for a record that is printed because it cannot be written.
pub fn printed_instead() -> &'static str {
    tr(
        "the results are printed, for they cannot be written",
        "结果无法写入文件，因此改为直接输出",
    )
}
