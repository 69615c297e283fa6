//! What was compiled, kept for the next time.
//!
//! A folder of files. `KEY.json` is found by all that decides how a program is compiled, and names the
//! files that clang read with a hash of each, and `HASH.made`, what came of them. Each file is written
//! under another name and then renamed, so that two programs at once do no harm. What nobody has used for
//! a month goes, and the oldest where all of it is too much.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use chapter::file;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::Compiled;

/// Another one where what is kept means something else than before.
pub const FORMAT: &str = "cuda-run cache 1";

/// Names the folder.
const OVERRIDE: &str = "CUDA_RUN_CACHE";

/// So long an entry is kept that nobody uses, and a folder in which nobody works any more.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// So many bytes all entries may have together.
const MOST: u64 = 512 << 20;

const BUILDING: &str = "building-";

/// The folder.
pub struct Cache(PathBuf);

/// What is known of an entry.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// What clang read, and a hash of each.
    read: Vec<(PathBuf, String)>,
    /// The file with what came of it.
    made: String,
    remarks: String,
}

/// An entry that still holds.
pub struct Entry {
    pub file: PathBuf,
    pub remarks: String,
}

impl Cache {
    /// None where there can be no such folder: then everything is compiled each time.
    pub fn open() -> Option<Cache> {
        let folder = match std::env::var_os(OVERRIDE) {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => dirs::cache_dir()?.join("warpbook").join("cuda-run"),
        };
        fs::create_dir_all(&folder).ok()?;
        let folder = fs::canonicalize(folder).ok()?;
        file::can_write_into(&folder).ok()?;
        Some(Cache(folder))
    }

    /// A folder to compile in, from which what comes of it can be renamed into its place.
    pub fn workplace(&self) -> Result<TempDir> {
        let made = tempfile::Builder::new()
            .prefix(BUILDING)
            .tempdir_in(&self.0);
        made.with_context(|| format!("cannot make a folder in {}", self.0.display()))
    }

    /// What was made before, where nothing of it has changed.
    pub fn find(&self, key: &str) -> Option<Compiled> {
        let manifest = self.0.join(format!("{key}.json"));
        let known: Manifest = serde_json::from_slice(&fs::read(&manifest).ok()?).ok()?;
        let is_same = |(file, hash): &(PathBuf, String)| hash_of_file(file).as_ref() == Some(hash);
        let made = self.0.join(&known.made);
        if !made.is_file() || !known.read.iter().all(is_same) {
            return None;
        }
        for file in [&manifest, &made] {
            // Where it cannot be noted that it is used, it is compiled again in a month.
            let _ = File::open(file).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some(Compiled::kept(Entry {
            file: made,
            remarks: known.remarks,
        }))
    }

    /// Keeps what was made of these files, and lets go of what is old.
    pub fn keep(
        &self,
        key: &str,
        made: &Path,
        read: &[PathBuf],
        remarks: String,
    ) -> Result<Compiled> {
        let mut all = Sha256::new();
        all.update(key);
        let mut known = Vec::new();
        for file in read {
            // A file that is gone by now is another one when somebody looks.
            let hash = hash_of_file(file).unwrap_or_default();
            all.update(&hash);
            known.push((std::path::absolute(file)?, hash));
        }
        let name = format!("{}.made", hex(&all.finalize()));
        let place = self.0.join(&name);
        let cannot = || format!("cannot keep what was compiled in {}", self.0.display());
        fs::rename(made, &place).with_context(cannot)?;
        let manifest = Manifest {
            read: known,
            made: name,
            remarks: remarks.clone(),
        };
        let text = serde_json::to_vec(&manifest)?;
        let write = file::write(&self.0.join(format!("{key}.json")), |to| {
            to.write_all(&text)
        });
        write.with_context(cannot)?;
        self.sweep(SystemTime::now());
        Ok(Compiled::kept(Entry {
            file: place,
            remarks,
        }))
    }

    /// Lets go of what nobody has used for long, and of the oldest where it is too much. What cannot be
    /// removed is left.
    fn sweep(&self, now: SystemTime) {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            let used = about.modified().unwrap_or(now);
            let age = now.duration_since(used).unwrap_or_default();
            let path = entry.path();
            if about.is_dir() {
                let is_ours = entry.file_name().to_string_lossy().starts_with(BUILDING);
                if is_ours && age > DAY {
                    let _ = fs::remove_dir_all(path);
                }
            } else if path
                .extension()
                .is_some_and(|it| it == "json" || it == "made")
            {
                match age > MONTH {
                    true => drop(fs::remove_file(path)),
                    false => kept.push((used, about.len(), path)),
                }
            }
        }
        kept.sort();
        let mut all: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in kept {
            if all <= MOST {
                break;
            }
            all -= bytes;
            let _ = fs::remove_file(path);
        }
    }
}

/// A hash of words, in hexadecimal.
pub fn hash_of(words: &[OsString]) -> String {
    let mut hasher = Sha256::new();
    for word in words {
        let bytes = word.as_encoded_bytes();
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    hex(&hasher.finalize())
}

fn hash_of_file(file: &Path) -> Option<String> {
    Some(hex(&Sha256::digest(fs::read(file).ok()?)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache(folder.path().to_owned());
        (folder, cache)
    }

    /// Keeps `text` as what came of `source`.
    fn keep(cache: &Cache, key: &str, source: &Path, text: &str) -> PathBuf {
        let folder = cache.workplace().unwrap();
        let made = folder.path().join("program.so");
        fs::write(&made, text).unwrap();
        let kept = cache.keep(key, &made, &[source.to_owned()], "remark".to_owned());
        kept.unwrap().file
    }

    #[test]
    fn what_was_made_is_found_until_a_source_changes() {
        let (folder, cache) = cache();
        let source = folder.path().join("a.cu");
        fs::write(&source, "one").unwrap();
        assert!(cache.find("key").is_none());
        let kept = keep(&cache, "key", &source, "made");
        let found = cache.find("key").unwrap();
        assert_eq!((&found.file, found.remarks.as_str()), (&kept, "remark"));
        assert_eq!(fs::read_to_string(&kept).unwrap(), "made");
        fs::write(&source, "two").unwrap();
        assert!(cache.find("key").is_none());
        let other = keep(&cache, "key", &source, "made of two");
        assert_ne!(other, kept);
        assert_eq!(cache.find("key").unwrap().file, other);
        fs::remove_file(&other).unwrap();
        assert!(cache.find("key").is_none(), "half of it is gone");
    }

    #[test]
    fn what_is_damaged_counts_as_not_there() {
        let (folder, cache) = cache();
        let source = folder.path().join("a.cu");
        fs::write(&source, "one").unwrap();
        keep(&cache, "key", &source, "made");
        fs::write(folder.path().join("key.json"), "{").unwrap();
        assert!(cache.find("key").is_none());
    }

    #[test]
    fn what_is_old_goes_and_other_files_stay() {
        let (folder, cache) = cache();
        let source = folder.path().join("a.cu");
        fs::write(&source, "one").unwrap();
        keep(&cache, "old", &source, "made");
        let building = folder.path().join("building-x");
        fs::create_dir(&building).unwrap();
        cache.sweep(SystemTime::now() + DAY / 2);
        assert!(building.exists() && cache.find("old").is_some());
        cache.sweep(SystemTime::now() + 2 * DAY);
        assert!(!building.exists() && cache.find("old").is_some());
        cache.sweep(SystemTime::now() + 2 * MONTH);
        assert!(cache.find("old").is_none());
        assert!(source.exists());
    }
}
