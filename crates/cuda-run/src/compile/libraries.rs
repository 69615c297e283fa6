//! Libraries that this program does not contain: the directories of CCCL, and advice where a header or a library for
//! the linker is missing.

use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::pass::{split_messages, strip_colors};

/// A library that programs use and this program does not contain.
struct Library {
    name: &'static str,
    /// Returns true if a header, as named in an `#include`, belongs to the library.
    owns: fn(&str) -> bool,
    /// The library's names for the linker, which may end in `_static`.
    linked: &'static [&'static str],
    /// The prefix of the library's functions, if they have one that is not used elsewhere.
    prefix: Option<&'static str>,
    /// The next step for a user whose program includes it.
    remedy: &'static str,
}

const NOT_PROVIDED: &str = "cuda-run does not provide this library: run the program on a GPU with NVIDIA's CUDA \
                            Toolkit, or change it to work without the library";
const NO_DISPLAY: &str = "cuda-run has no graphics: change the program to work without a display, such as by writing its \
                          images to files";

/// Returns true if a name begins with one of these prefixes.
fn has_prefix(name: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Creates the row of a library of NVIDIA's that has no open source.
const fn closed(
    name: &'static str,
    prefix: &'static str,
    owns: fn(&str) -> bool,
    linked: &'static [&'static str],
) -> Library {
    Library {
        name,
        owns,
        linked,
        prefix: Some(prefix),
        remedy: NOT_PROVIDED,
    }
}

/// Creates the row of a library of headers and functions without a common prefix.
const fn open(name: &'static str, owns: fn(&str) -> bool, remedy: &'static str) -> Library {
    Library {
        name,
        owns,
        linked: &[],
        prefix: None,
        remedy,
    }
}

const LIBRARIES: &[Library] = &[
    open(
        "CCCL (Thrust, CUB and libcu++)",
        |header| {
            has_prefix(header, &["thrust/", "cub/", "cuda/std/"])
                || header == "nv/target"
                // CCCL's other headers have no extension: `cuda/barrier`.
                || (header.starts_with("cuda/") && !header.contains('.'))
        },
        "Install Debian's version with \"sudo apt-get install libthrust-dev libcub-dev libcu++-dev\", or name the \
         directory of any version with --cccl DIR, such as that of \"pip install nvidia-cuda-cccl-cu12\"",
    ),
    open(
        "the common headers of NVIDIA's CUDA samples",
        |header| {
            let names = ["drvapi_error_string.h", "nvrtc_helper.h"];
            header.starts_with("helper_") || names.contains(&header)
        },
        "Get them with \"git clone https://github.com/NVIDIA/cuda-samples\", and name their directory with \
         -I cuda-samples/Common",
    ),
    open(
        "CUTLASS",
        |header| has_prefix(header, &["cutlass/", "cute/"]),
        "Get it with \"git clone https://github.com/NVIDIA/cutlass\", and name its directory with -I cutlass/include",
    ),
    Library {
        name: "OpenGL",
        owns: |header| {
            let interoperability = [
                "cuda_gl_interop.h",
                "cudaGL.h",
                "cuda_egl_interop.h",
                "cudaEGL.h",
            ];
            let dirs = [
                "GL/",
                "GLFW/",
                "GLES",
                "GLUT/",
                "EGL/",
                "OpenGL/",
                "glad/",
                "rendercheck_gl",
            ];
            has_prefix(header, &dirs) || interoperability.contains(&header)
        },
        linked: &["GL", "GLU", "GLEW", "glut", "glfw", "EGL"],
        prefix: None,
        remedy: NO_DISPLAY,
    },
    Library {
        name: "Vulkan",
        owns: |header| header.starts_with("vulkan/"),
        linked: &["vulkan"],
        prefix: None,
        remedy: NO_DISPLAY,
    },
    closed(
        "cuDNN",
        "cudnn",
        |header| header.starts_with("cudnn"),
        &["cudnn"],
    ),
    closed(
        "cuSOLVER",
        "cusolver",
        |header| header.starts_with("cusolver"),
        &["cusolver", "cusolverMg"],
    ),
    closed(
        "cuSPARSE",
        "cusparse",
        |header| header.starts_with("cusparse"),
        &["cusparse"],
    ),
    closed(
        "cuTENSOR",
        "cutensor",
        |header| header.starts_with("cutensor"),
        &["cutensor"],
    ),
    closed(
        "NPP (image and signal processing)",
        "npp",
        |header| header.starts_with("npp"),
        &[
            "npp", "nppc", "nppial", "nppicc", "nppidei", "nppif", "nppig", "nppim", "nppist",
            "nppisu", "nppitc", "npps",
        ],
    ),
    closed(
        "nvJPEG",
        "nvjpeg",
        |header| header.starts_with("nvjpeg"),
        &["nvjpeg"],
    ),
    closed(
        "nvGRAPH",
        "nvgraph",
        |header| header == "nvgraph.h",
        &["nvgraph"],
    ),
    closed("NCCL", "nccl", |header| header == "nccl.h", &["nccl"]),
    closed(
        "NVSHMEM",
        "nvshmem",
        |header| header.starts_with("nvshmem"),
        &["nvshmem"],
    ),
    closed("NVML", "nvml", |header| header == "nvml.h", &["nvidia-ml"]),
    closed(
        "CUPTI",
        "cupti",
        |header| header.starts_with("cupti"),
        &["cupti"],
    ),
    closed(
        "the Video Codec SDK",
        "cuvid",
        |header| ["nvcuvid.h", "cuviddec.h", "nvEncodeAPI.h"].contains(&header),
        &["nvcuvid"],
    ),
    closed("OptiX", "optix", |header| header.starts_with("optix"), &[]),
    closed(
        "cuFile (GPUDirect Storage)",
        "cuFile",
        |header| header == "cufile.h",
        &["cufile"],
    ),
    open(
        "MPI",
        |header| header == "mpi.h",
        "Install it with \"sudo apt-get install libopenmpi-dev\", and add the flags that \"mpicxx --showme:compile\" and \
         \"mpicxx --showme:link\" print",
    ),
    open(
        "OpenCV",
        |header| header.starts_with("opencv2/"),
        "Install it with \"sudo apt-get install libopencv-dev\", and add the flags that \"pkg-config --cflags --libs \
         opencv4\" prints",
    ),
    open(
        "FreeImage",
        |header| header == "FreeImage.h",
        "Install it with \"sudo apt-get install libfreeimage-dev\", and add -lfreeimage",
    ),
];

/// Returns the error for a library that the linker is to use, if this program knows it and does not provide it.
pub fn unsupported_library(linked: &str) -> Option<String> {
    let linked = linked.trim_end_matches("_static");
    let library = LIBRARIES
        .iter()
        .find(|library| library.linked.contains(&linked))?;
    let Library { name, remedy, .. } = library;
    Some(format!("-l{linked} belongs to {name}. {remedy}"))
}

/// Returns the name of the library that a function belongs to, if this program does not provide it.
pub fn library_of_function(function: &str) -> Option<&'static str> {
    let owns = |library: &&Library| {
        library
            .prefix
            .is_some_and(|prefix| function.starts_with(prefix))
    };
    LIBRARIES.iter().find(owns).map(|library| library.name)
}

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
        // clang searches this directory anyway, after that of the C++ library, which relies on the order.
        Some(dir) if dir == Path::new("/usr/include") => Ok(Vec::new()),
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
        for (header, library) in [
            ("cudnn.h", "cuDNN"),
            ("cusolverDn.h", "cuSOLVER"),
            ("nppi.h", "NPP"),
            ("GL/glew.h", "OpenGL"),
            ("cuda_gl_interop.h", "OpenGL"),
            (
                "helper_cuda.h",
                "the common headers of NVIDIA's CUDA samples",
            ),
            ("mpi.h", "MPI"),
            ("opencv2/core.hpp", "OpenCV"),
        ] {
            let explained = explain_missing_headers(&missing(header));
            let expected =
                format!("./b.h:2:10: fatal error: '{header}' not found: it belongs to {library}");
            assert!(explained.contains(&expected), "{explained}");
            assert_eq!(explained.lines().count(), 2, "{explained}");
        }
        for header in ["cuda/utils.h", "sort.h"] {
            assert_eq!(explain_missing_headers(&missing(header)), missing(header));
        }
        let other = "a.cu:1:1: error: unknown type name 'thrust/x'\n";
        assert_eq!(explain_missing_headers(other), other);
    }

    #[test]
    fn a_library_for_the_linker_is_explained() {
        for linked in ["cusolver", "cusolver_static"] {
            let error = unsupported_library(linked).expect("an error");
            assert!(
                error.starts_with("-lcusolver belongs to cuSOLVER. cuda-run does not"),
                "{error}"
            );
        }
        for linked in ["m", "cublas", "GLib"] {
            assert_eq!(unsupported_library(linked), None);
        }
        assert_eq!(library_of_function("ncclAllReduce"), Some("NCCL"));
        assert_eq!(library_of_function("cudaMalloc"), None);
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
