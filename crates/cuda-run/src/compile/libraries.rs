//! Libraries that this program does not contain: the directories of CCCL, and advice where a header is missing.

use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::pass::{split_messages, strip_colors};

/// A library of headers that programs include.
struct Library {
    name: &'static str,
    /// Returns true if a header, as named in an `#include`, belongs to the library.
    owns: fn(&str) -> bool,
    /// The next step for a user whose program includes it.
    remedy: &'static str,
}

const LIBRARIES: &[Library] = &[Library {
    name: "CCCL (Thrust, CUB and libcu++)",
    owns: |header| {
        let directories = ["thrust/", "cub/", "cuda/std/"];
        directories.iter().any(|dir| header.starts_with(dir))
            || header == "nv/target"
            // CCCL's other headers have no extension: `cuda/barrier`.
            || (header.starts_with("cuda/") && !header.contains('.'))
    },
    remedy: "Install Debian's version with \"sudo apt-get install libthrust-dev libcub-dev libcu++-dev\", or name the \
             directory of any version with --cccl DIR, such as that of \"pip install nvidia-cuda-cccl-cu12\"",
}];

/// Replaces clang's errors about missing headers of known libraries by the library's name and the next step.
pub fn explain_missing_headers(messages: &str) -> String {
    let explain = |message: String| {
        let plain = strip_colors(&message);
        let (place, rest) = plain.split_once(": fatal error: '")?;
        let (header, rest) = rest.split_once('\'')?;
        let library = LIBRARIES.iter().find(|library| (library.owns)(header))?;
        rest.starts_with(" file not found").then(|| {
            let Library { name, remedy, .. } = library;
            format!("{place}: fatal error: '{header}' not found: it belongs to {name}. {remedy}\n")
        })
    };
    let messages = split_messages(messages).into_iter();
    messages
        .map(|message| explain(message.clone()).unwrap_or(message))
        .collect()
}

/// Returns the include directories of CCCL in `dir`: a checkout of its repository, a directory of headers, or a
/// directory that contains one, such as that of a Python package.
///
/// # Errors
///
/// Fails if `dir` contains no CCCL.
pub fn cccl_dirs(dir: &Path) -> Result<Vec<PathBuf>> {
    let checkout = ["libcudacxx/include", "cub", "thrust"].map(|part| dir.join(part));
    if checkout.iter().all(|part| part.is_dir()) && checkout[2].join("thrust/version.h").is_file() {
        return Ok(checkout.into());
    }
    let has_headers = |dir: &PathBuf| {
        let headers = ["thrust/version.h", "cub/version.cuh", "cuda/std/version"];
        headers.iter().any(|header| dir.join(header).is_file())
    };
    // Since CUDA 13 the toolkit has these headers in a directory of their own.
    let inner = ["cccl", "include/cccl", "include"].map(|inner| dir.join(inner));
    let mut candidates = iter::once(dir.to_owned()).chain(inner);
    match candidates.find(has_headers) {
        Some(dir) => Ok(vec![dir]),
        None => bail!(
            "--cccl {}: no CCCL in this directory, which contains neither thrust/version.h nor libcudacxx/include. \
             Name a checkout of github.com/NVIDIA/cccl or a directory of its headers",
            dir.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_missing_header_of_a_library_is_explained() {
        let missing = |header: &str| {
            format!(
                "In file included from a.cu:1:\n./b.h:2:10: fatal error: '{header}' file not found\n\
                 #include <{header}>\n         ^~~\n"
            )
        };
        for header in [
            "thrust/sort.h",
            "cub/cub.cuh",
            "cuda/barrier",
            "cuda/std/atomic",
            "nv/target",
        ] {
            let expected = format!(
                "In file included from a.cu:1:\n./b.h:2:10: fatal error: '{header}' not found: it belongs to CCCL \
                 (Thrust, CUB and libcu++). Install "
            );
            let explained = explain_missing_headers(&missing(header));
            assert!(explained.starts_with(&expected), "{explained}");
            assert_eq!(explained.lines().count(), 2, "{explained}");
        }
        for header in ["cuda/utils.h", "sort.h"] {
            assert_eq!(explain_missing_headers(&missing(header)), missing(header));
        }
        let other = "a.cu:1:1: error: unknown type name 'thrust/x'\n";
        assert_eq!(explain_missing_headers(other), other);
    }

    #[test]
    fn cccl_is_found_in_all_layouts() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let add = |file: &str| {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
            fs::write(file, "").expect("a file");
        };
        let dirs = |name: &str| {
            let found = cccl_dirs(&dir.path().join(name)).map_err(|error| error.to_string())?;
            let names = found
                .iter()
                .map(|found| found.strip_prefix(dir.path()).expect("inside"));
            Ok::<_, String>(
                names
                    .map(|name| name.display().to_string())
                    .collect::<Vec<_>>(),
            )
        };
        add("wheel/include/cub/version.cuh");
        add("wheel13/include/cccl/thrust/version.h");
        add("flat/cuda/std/version");
        for file in [
            "thrust/thrust/version.h",
            "cub/cub/version.cuh",
            "libcudacxx/include/cuda/std/version",
        ] {
            add(&format!("checkout/{file}"));
        }
        assert_eq!(dirs("wheel").unwrap(), ["wheel/include"]);
        assert_eq!(dirs("wheel13").unwrap(), ["wheel13/include/cccl"]);
        assert_eq!(dirs("wheel13/include").unwrap(), ["wheel13/include/cccl"]);
        assert_eq!(dirs("flat").unwrap(), ["flat"]);
        let parts = [
            "checkout/libcudacxx/include",
            "checkout/cub",
            "checkout/thrust",
        ];
        assert_eq!(dirs("checkout").unwrap(), parts);
        assert!(dirs("none").unwrap_err().starts_with("--cccl "));
    }
}
