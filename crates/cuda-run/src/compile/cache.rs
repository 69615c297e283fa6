//! The cache of compiled programs.
//!
//! The cache is a directory. `KEY.json` is named after a hash of the compiler's command lines; it lists the
//! files that clang read, with a hash of each, and names `HASH.made`, the output. Files are written under
//! another name and then renamed, so that concurrent runs do not interfere. Entries unused for a month are
//! evicted, as are the oldest if the cache is too large.

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

/// The version of the cache's format, a part of every key.
pub const FORMAT: &str = "cuda-run cache 3";

/// The environment variable that overrides the directory.
const CACHE_DIR_VAR: &str = "CUDA_RUN_CACHE";

/// The time after which an unused entry, or an abandoned build directory, is removed.
const ENTRY_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);
const BUILD_DIR_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// The maximum total size of all entries.
const MAX_BYTES: u64 = 512 << 20;

const BUILD_DIR_PREFIX: &str = "building-";

/// The cache directory.
pub struct Cache(PathBuf);

/// The contents of `KEY.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// The files that clang read, with a hash of each.
    #[serde(rename = "read")]
    sources: Vec<(PathBuf, String)>,
    /// The name of the output file.
    #[serde(rename = "made")]
    output: String,
    #[serde(rename = "remarks")]
    diagnostics: String,
}

/// A valid cache entry.
pub struct Entry {
    pub file: PathBuf,
    pub diagnostics: String,
}

impl Cache {
    /// Opens the cache. Returns `None` if the directory cannot be created; then every run compiles.
    pub fn open() -> Option<Cache> {
        let directory = match std::env::var_os(CACHE_DIR_VAR) {
            Some(directory) if !directory.is_empty() => PathBuf::from(directory),
            _ => dirs::cache_dir()?.join("warpbook").join("cuda-run"),
        };
        fs::create_dir_all(&directory).ok()?;
        let directory = fs::canonicalize(directory).ok()?;
        file::check_writable(&directory).ok()?;
        Some(Cache(directory))
    }

    /// Creates a build directory in the cache, so that its outputs can be renamed into place.
    fn build_dir(&self) -> Result<TempDir> {
        let dir = tempfile::Builder::new()
            .prefix(BUILD_DIR_PREFIX)
            .tempdir_in(&self.0);
        dir.with_context(|| format!("cannot create a directory in {}", self.0.display()))
    }

    /// Returns a cached output if none of its sources has changed.
    pub fn find(&self, key: &str) -> Option<Compiled> {
        let manifest = self.0.join(format!("{key}.json"));
        let entry: Manifest = serde_json::from_slice(&fs::read(&manifest).ok()?).ok()?;
        let is_unchanged =
            |(file, hash): &(PathBuf, String)| hash_of_file(file).as_ref() == Some(hash);
        let output = self.0.join(&entry.output);
        if !output.is_file() || !entry.sources.iter().all(is_unchanged) {
            return None;
        }
        for file in [&manifest, &output] {
            // If the time stamp cannot be updated, the entry is merely evicted earlier.
            let _ = File::open(file).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some(Compiled::from_cache(Entry {
            file: output,
            diagnostics: entry.diagnostics,
        }))
    }

    /// Stores an output and the hashes of its sources, and evicts old entries.
    pub fn store(
        &self,
        key: &str,
        output: &Path,
        sources: &[PathBuf],
        diagnostics: String,
    ) -> Result<Compiled> {
        let mut hasher = Sha256::new();
        hasher.update(key);
        let mut entries = Vec::new();
        for file in sources {
            // A source that has been deleted in the meantime gets an empty hash, which never matches.
            let hash = hash_of_file(file).unwrap_or_default();
            hasher.update(&hash);
            entries.push((std::path::absolute(file)?, hash));
        }
        let name = format!("{}.made", hex(&hasher.finalize()));
        let stored = self.0.join(&name);
        let context = || format!("cannot store the compiled program in {}", self.0.display());
        fs::rename(output, &stored).with_context(context)?;
        let manifest = Manifest {
            sources: entries,
            output: name,
            diagnostics: diagnostics.clone(),
        };
        let text = serde_json::to_vec(&manifest)?;
        let write = file::write(&self.0.join(format!("{key}.json")), |writer| {
            writer.write_all(&text)
        });
        write.with_context(context)?;
        self.evict(SystemTime::now());
        Ok(Compiled::from_cache(Entry {
            file: stored,
            diagnostics,
        }))
    }

    /// Removes entries that have not been used for a long time, and the oldest ones if the cache is too large.
    /// Ignores files that cannot be removed.
    fn evict(&self, now: SystemTime) {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let modified = metadata.modified().unwrap_or(now);
            let age = now.duration_since(modified).unwrap_or_default();
            let path = entry.path();
            if metadata.is_dir() {
                let is_build_dir = entry
                    .file_name()
                    .to_string_lossy()
                    .starts_with(BUILD_DIR_PREFIX);
                if is_build_dir && age > BUILD_DIR_LIFETIME {
                    let _ = fs::remove_dir_all(path);
                }
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json" || extension == "made")
            {
                if age > ENTRY_LIFETIME {
                    drop(fs::remove_file(path))
                } else {
                    entries.push((modified, metadata.len(), path))
                }
            }
        }
        entries.sort();
        let mut total_bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in entries {
            if total_bytes <= MAX_BYTES {
                break;
            }
            total_bytes -= bytes;
            let _ = fs::remove_file(path);
        }
    }
}

/// Creates a build directory, in the cache if there is one.
pub fn build_dir(cache: Option<&Cache>) -> Result<TempDir> {
    match cache {
        Some(cache) => cache.build_dir(),
        None => tempfile::tempdir().context("cannot create a temporary directory"),
    }
}

/// Returns a hash of arguments, in hexadecimal.
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
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache(directory.path().to_owned());
        (directory, cache)
    }

    /// Stores `text` as the output of `source`.
    fn store(cache: &Cache, key: &str, source: &Path, text: &str) -> PathBuf {
        let directory = cache.build_dir().unwrap();
        let output = directory.path().join("program.so");
        fs::write(&output, text).unwrap();
        let stored = cache.store(key, &output, &[source.to_owned()], "remark".to_owned());
        stored.unwrap().file
    }

    #[test]
    fn an_output_is_found_until_a_source_changes() {
        let (directory, cache) = cache();
        let source = directory.path().join("a.cu");
        fs::write(&source, "one").unwrap();
        assert!(cache.find("key").is_none());
        let stored = store(&cache, "key", &source, "made");
        let hit = cache.find("key").unwrap();
        assert_eq!((&hit.file, hit.diagnostics.as_str()), (&stored, "remark"));
        assert_eq!(fs::read_to_string(&stored).unwrap(), "made");
        fs::write(&source, "two").unwrap();
        assert!(cache.find("key").is_none());
        let other = store(&cache, "key", &source, "made of two");
        assert_ne!(other, stored);
        assert_eq!(cache.find("key").unwrap().file, other);
        fs::remove_file(&other).unwrap();
        assert!(cache.find("key").is_none(), "the output is missing");
    }

    #[test]
    fn a_damaged_manifest_is_ignored() {
        let (directory, cache) = cache();
        let source = directory.path().join("a.cu");
        fs::write(&source, "one").unwrap();
        store(&cache, "key", &source, "made");
        fs::write(directory.path().join("key.json"), "{").unwrap();
        assert!(cache.find("key").is_none());
    }

    #[test]
    fn old_entries_are_evicted_and_other_files_kept() {
        let (directory, cache) = cache();
        let source = directory.path().join("a.cu");
        fs::write(&source, "one").unwrap();
        store(&cache, "old", &source, "made");
        let building = directory.path().join("building-x");
        fs::create_dir(&building).unwrap();
        cache.evict(SystemTime::now() + BUILD_DIR_LIFETIME / 2);
        assert!(building.exists() && cache.find("old").is_some());
        cache.evict(SystemTime::now() + 2 * BUILD_DIR_LIFETIME);
        assert!(!building.exists() && cache.find("old").is_some());
        cache.evict(SystemTime::now() + 2 * ENTRY_LIFETIME);
        assert!(cache.find("old").is_none());
        assert!(source.exists());
    }
}
