//! Libraries that programs use: those that this program provides, and advice where a header or a library for the linker
//! is missing. Also the directories of CCCL.

use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::pass::{split_messages, strip_colors};

/// A library that programs use.
struct Library {
    name: &'static str,
    /// The beginnings of the names of its headers, as in an `#include`, if this program does not provide them.
    headers: &'static [&'static str],
    /// The library's names for the linker, which may end in `_static`.
    linked: &'static [&'static str],
    /// The prefix of the library's functions, if they have one that is not used elsewhere.
    prefix: Option<&'static str>,
    /// The next step for a user whose program needs it, or `None` if this program provides it.
    remedy: Option<&'static str>,
}

const NOT_PROVIDED: &str = "cuda-run does not provide this library: run the program on a GPU with NVIDIA's CUDA \
                            Toolkit, or change it to work without the library";
const NO_DISPLAY: &str = "cuda-run has no graphics: change the program to work without a display, such as by writing its \
                          images to files";

/// Creates the row of a library of NVIDIA's that this program provides.
const fn built_in(
    name: &'static str,
    prefix: &'static str,
    linked: &'static [&'static str],
) -> Library {
    Library {
        name,
        headers: &[],
        linked,
        prefix: Some(prefix),
        remedy: None,
    }
}

/// Creates the row of a library of NVIDIA's that has no open source.
const fn closed(
    name: &'static str,
    prefix: &'static str,
    headers: &'static [&'static str],
    linked: &'static [&'static str],
) -> Library {
    Library {
        name,
        headers,
        linked,
        prefix: Some(prefix),
        remedy: Some(NOT_PROVIDED),
    }
}

/// Creates the row of a library without a common prefix of its functions.
const fn open(
    name: &'static str,
    headers: &'static [&'static str],
    linked: &'static [&'static str],
    remedy: &'static str,
) -> Library {
    Library {
        name,
        headers,
        linked,
        prefix: None,
        remedy: Some(remedy),
    }
}

/// The libraries. A function belongs to the first whose prefix its name has.
const LIBRARIES: &[Library] = &[
    built_in("cuBLAS", "cublas", &["cublas", "cublasLt"]),
    built_in("cuFFT", "cufft", &["cufft"]),
    built_in("cuRAND", "curand", &["curand"]),
    built_in("NVRTC", "nvrtc", &["nvrtc", "nvrtc-builtins"]),
    built_in("NVTX", "nvtx", &["nvToolsExt"]),
    open(
        "CCCL (Thrust, CUB and libcu++)",
        &["thrust/", "cub/", "cuda/", "nv/target"],
        &[],
        "Install Debian's version with \"sudo apt-get install libthrust-dev libcub-dev libcu++-dev\", or name the \
         directory of any version with --cccl DIR, such as that of \"pip install nvidia-cuda-cccl-cu12\"",
    ),
    open(
        "the common headers of NVIDIA's CUDA samples",
        &["helper_", "drvapi_error_string.h", "nvrtc_helper.h"],
        &[],
        "Get them with \"git clone https://github.com/NVIDIA/cuda-samples\", and name their directory with \
         -I cuda-samples/Common",
    ),
    open(
        "CUTLASS",
        &["cutlass/", "cute/"],
        &[],
        "Get it with \"git clone https://github.com/NVIDIA/cutlass\", and name its directory with -I cutlass/include",
    ),
    open(
        "OpenGL",
        &[
            "GL/",
            "GLFW/",
            "GLES",
            "GLUT/",
            "EGL/",
            "OpenGL/",
            "glad/",
            "rendercheck_gl",
            "cuda_gl_interop.h",
            "cudaGL.h",
            "cuda_egl_interop.h",
            "cudaEGL.h",
        ],
        &["GL", "GLU", "GLEW", "glut", "glfw", "EGL"],
        NO_DISPLAY,
    ),
    open("Vulkan", &["vulkan/"], &["vulkan"], NO_DISPLAY),
    open(
        "cuFFTW, the interface of FFTW to cuFFT",
        &["cufftw.h"],
        &["cufftw"],
        "cuda-run does not provide it. Call cuFFT (cufft.h) instead, or FFTW itself: include fftw3.h, and add -lfftw3",
    ),
    closed("cuDNN", "cudnn", &["cudnn"], &["cudnn"]),
    closed(
        "cuSOLVER",
        "cusolver",
        &["cusolver"],
        &["cusolver", "cusolverMg"],
    ),
    closed("cuSPARSE", "cusparse", &["cusparse"], &["cusparse"]),
    closed("cuTENSOR", "cutensor", &["cutensor"], &["cutensor"]),
    closed(
        "NPP (image and signal processing)",
        "npp",
        &["npp"],
        &[
            "npp", "nppc", "nppial", "nppicc", "nppidei", "nppif", "nppig", "nppim", "nppist",
            "nppisu", "nppitc", "npps",
        ],
    ),
    closed("nvJPEG", "nvjpeg", &["nvjpeg"], &["nvjpeg"]),
    closed("nvGRAPH", "nvgraph", &["nvgraph.h"], &["nvgraph"]),
    closed("NCCL", "nccl", &["nccl.h"], &["nccl"]),
    closed("NVSHMEM", "nvshmem", &["nvshmem"], &["nvshmem"]),
    closed("NVML", "nvml", &["nvml.h"], &["nvidia-ml"]),
    closed("CUPTI", "cupti", &["cupti"], &["cupti"]),
    closed(
        "the Video Codec SDK",
        "cuvid",
        &["nvcuvid.h", "cuviddec.h", "nvEncodeAPI.h"],
        &["nvcuvid"],
    ),
    closed("OptiX", "optix", &["optix"], &[]),
    closed(
        "cuFile (GPUDirect Storage)",
        "cuFile",
        &["cufile.h"],
        &["cufile"],
    ),
    open(
        "MPI",
        &["mpi.h"],
        &[],
        "Install it with \"sudo apt-get install libopenmpi-dev\", and add the flags that \"mpicxx --showme:compile\" and \
         \"mpicxx --showme:link\" print",
    ),
    open(
        "OpenCV",
        &["opencv2/"],
        &[],
        "Install it with \"sudo apt-get install libopencv-dev\", and add the flags that \"pkg-config --cflags --libs \
         opencv4\" prints",
    ),
    open(
        "FreeImage",
        &["FreeImage.h"],
        &[],
        "Install it with \"sudo apt-get install libfreeimage-dev\", and add -lfreeimage",
    ),
    built_in(
        "CUDA runtime",
        "cu",
        &["cudart", "cuda", "cudadevrt", "culibos"],
    ),
];

/// The provision of a library for the linker.
#[derive(Debug, PartialEq, Eq)]
pub enum Linked {
    BuiltIn,
    /// Not provided: the message for the user.
    Missing(String),
    /// Not one of these libraries.
    Other,
}

/// Finds a library by its name for the linker.
pub fn find_linked(linked: &str) -> Linked {
    let linked = linked.trim_end_matches("_static");
    let library = LIBRARIES
        .iter()
        .find(|library| library.linked.contains(&linked));
    match library {
        None => Linked::Other,
        Some(Library { remedy: None, .. }) => Linked::BuiltIn,
        Some(Library {
            name,
            remedy: Some(remedy),
            ..
        }) => Linked::Missing(format!("-l{linked} belongs to {name}. {remedy}")),
    }
}

/// Explains why a function is undefined. The text follows the function's name.
pub fn explain_undefined(function: &str) -> String {
    let has_prefix = |prefix| function.starts_with(prefix);
    let library = LIBRARIES
        .iter()
        .find(|library| library.prefix.is_some_and(has_prefix));
    match library {
        Some(Library { name, remedy: None, .. }) => format!("is not implemented by cuda-run's {name}"),
        Some(Library { name, .. }) => format!("belongs to {name}, which cuda-run does not provide"),
        None => {
            "is not defined in the program's files or libraries; add the missing file, or the library with -l"
                .to_owned()
        }
    }
}

/// Returns the name and the remedy of the library that a header belongs to, if this program does not provide it.
fn library_of_header(header: &str) -> Option<(&'static str, &'static str)> {
    // CCCL's headers outside of `cuda/std` have no extension: `cuda/barrier`. Users also have directories of this name.
    if header.starts_with("cuda/") && header.contains('.') && !header.starts_with("cuda/std/") {
        return None;
    }
    let owns = |library: &&Library| {
        let mut prefixes = library.headers.iter();
        prefixes.any(|prefix| header.starts_with(prefix))
    };
    let library = LIBRARIES.iter().find(owns)?;
    Some((library.name, library.remedy?))
}

/// Replaces clang's errors about missing headers of known libraries by the library's name and the next step.
pub fn explain_missing_headers(messages: &str) -> String {
    let explain = |message: String| {
        let plain = strip_colors(&message);
        let (place, rest) = plain.split_once(": fatal error: '")?;
        let (header, rest) = rest.split_once('\'')?;
        let (name, remedy) = library_of_header(header)?;
        rest.starts_with(" file not found").then(|| {
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
            (
                "cufftw.h",
                "cuFFTW, the interface of FFTW to cuFFT. cuda-run does not",
            ),
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
            let Linked::Missing(error) = find_linked(linked) else {
                panic!("{linked} is known and not provided");
            };
            assert!(
                error.starts_with("-lcusolver belongs to cuSOLVER. cuda-run does not"),
                "{error}"
            );
        }
        for (linked, expected) in [
            ("cublas_static", Linked::BuiltIn),
            ("culibos", Linked::BuiltIn),
            ("m", Linked::Other),
            ("GLib", Linked::Other),
        ] {
            assert_eq!(find_linked(linked), expected, "{linked}");
        }
    }

    #[test]
    fn an_undefined_function_is_explained_by_its_library() {
        let cudnn = explain_undefined("cudnnCreate");
        assert_eq!(cudnn, "belongs to cuDNN, which cuda-run does not provide");
        assert!(explain_undefined("cublasSgemmGrouped").ends_with("cuda-run's cuBLAS"));
        assert!(explain_undefined("cudaGraphNew").ends_with("cuda-run's CUDA runtime"));
        assert!(explain_undefined("helper(int)").contains("-l"));
    }

    #[test]
    fn cccl_is_found_in_every_layout_of_a_directory() {
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
