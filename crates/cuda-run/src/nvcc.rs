//! nvcc's way of writing flags, which people paste: put as this program's own, or refused with the reason.

use std::ffi::OsString;

/// What becomes of one of nvcc's flags.
#[derive(Clone, Copy)]
enum Meaning {
    /// It takes a value, and is this flag here.
    Is(&'static str),
    /// It takes a value of words with commas between them, and each goes with this flag.
    Words(&'static str),
    /// It takes no value, and stands for these words.
    Stands(&'static [&'static str]),
    /// It takes a value that makes no difference here.
    NoMatter,
    /// `-gencode arch=compute_70,code=sm_70`.
    Generate,
    /// `--default-stream`.
    Stream,
    /// `-fmad`.
    Fused,
    /// `-rdc`.
    Relocatable,
    /// `-ftz`.
    Flush,
    /// It cannot be done, and this is why.
    Refused(&'static str),
}

use Meaning::{Flush, Fused, Generate, Is, NoMatter, Refused, Relocatable, Stands, Stream, Words};

const RUNS: &str = "cuda-run compiles a program and runs it, and leaves no file behind";
const FAST: &[&str] = &[
    "--device-option=-ffast-math",
    // Programs ask whether a number is finite, and nvcc's flag leaves that as it is.
    "--device-option=-fno-finite-math-only",
    "--device-option=-fcuda-approx-transcendentals",
    "--device-option=-D__USE_FAST_MATH__",
    FLUSH[0],
    FLUSH[1],
];
/// Floats that are too small to be normal count as 0.
const FLUSH: [&str; 2] = [
    "--device-option=-fcuda-flush-denormals-to-zero",
    "--device-option=-D__CUDA_FTZ=1",
];

/// By name, with however many dashes before it.
const KNOWN: &[(&[&str], Meaning)] = &[
    (&["arch", "gpu-architecture"], Is("--arch")),
    (&["std"], Is("--std")),
    (&["gencode", "generate-code"], Generate),
    (&["code", "gpu-code"], NoMatter),
    (&["Xcompiler", "compiler-options"], Words("--host-option")),
    (&["Xlinker", "linker-options"], Words("--link-option")),
    (
        &["Xptxas", "ptxas-options", "Xnvlink", "nvlink-options"],
        NoMatter,
    ),
    (&["maxrregcount", "threads", "split-compile", "t"], NoMatter),
    (
        &["ccbin", "compiler-bindir", "cudart", "x", "optimize"],
        NoMatter,
    ),
    (&["o", "output-file", "odir", "output-directory"], NoMatter),
    (&["rdc", "relocatable-device-code"], Relocatable),
    // It makes objects of files for -rdc=true; here they are compiled and linked at once.
    (&["dc", "device-c"], Stands(&["--link-kernels"])),
    (
        &["prec-div", "prec-sqrt", "diag-suppress", "m", "machine"],
        NoMatter,
    ),
    (&["default-stream"], Stream),
    (&["ftz"], Flush),
    (&["fmad"], Fused),
    (&["use_fast_math"], Stands(FAST)),
    (&["include-path"], Is("-I")),
    (&["define-macro"], Is("-D")),
    (&["library"], Is("-l")),
    (&["library-path"], Is("-L")),
    (
        &[
            "lineinfo",
            "generate-line-info",
            "g",
            "debug",
            "G",
            "device-debug",
        ],
        Stands(&[]),
    ),
    (
        &[
            "expt-extended-lambda",
            "extended-lambda",
            "expt-relaxed-constexpr",
        ],
        Stands(&[]),
    ),
    (
        &[
            "m64",
            "restrict",
            "keep",
            "v",
            "verbose",
            "resource-usage",
            "Werror",
        ],
        Stands(&[]),
    ),
    (
        &["w", "disable-warnings"],
        Stands(&["--host-option=-w", "--device-option=-w"]),
    ),
    (&["Wall"], Stands(&["--host-option=-Wall"])),
    (&["Wextra"], Stands(&["--host-option=-Wextra"])),
    (
        &["fopenmp"],
        Stands(&["--host-option=-fopenmp", "--link-option=-fopenmp"]),
    ),
    (&["pthread"], Stands(&["--host-option=-pthread"])),
    (
        &["c", "compile", "ptx", "cubin", "fatbin", "E", "M", "shared"],
        Refused(RUNS),
    ),
    (
        &["dlink", "device-link", "lib", "dlto", "run"],
        Refused(RUNS),
    ),
    (&["m32"], Refused("there are programs of 64 bits only")),
];

/// Libraries of NVIDIA's that programs link to by name.
const PARTS_OF_CUDA: [&str; 4] = ["cudart", "cudart_static", "cuda", "cudadevrt"];
const NOT_THERE: [&str; 12] = [
    "cublas",
    "cublasLt",
    "cufft",
    "cufftw",
    "curand",
    "cusolver",
    "cusparse",
    "cudnn",
    "nccl",
    "nvrtc",
    "npp",
    "nvToolsExt",
];

/// The words of a command line, nvcc's flags among them put as this program's own.
///
/// # Errors
///
/// Why a flag cannot be followed.
pub fn translated(words: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    let mut words = words.into_iter();
    let mut out: Vec<OsString> = words.next().into_iter().collect();
    let mut values_of_shorts = false;
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            out.extend(words.by_ref());
            break;
        }
        let text = match word.to_str() {
            Some(text) if text.starts_with('-') && text.len() > 1 && !values_of_shorts => text,
            _ => {
                values_of_shorts = false;
                out.push(word);
                continue;
            }
        };
        let bare = text.trim_start_matches('-');
        let (name, joined) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (bare, None),
        };
        let known = KNOWN.iter().find(|(names, _)| names.contains(&name));
        let is_long = text.starts_with("--");
        if let (None, Some(library)) = (known, text.strip_prefix("-l").filter(|it| !it.is_empty()))
        {
            out.extend(linked(library)?);
            continue;
        }
        let Some((_, meaning)) = known else {
            // A word that is one of this program's flags, or that clap tells the reader is none.
            values_of_shorts = !is_long && matches!(bare, "I" | "D" | "U" | "O" | "l" | "L");
            out.push(word);
            continue;
        };
        if let Stands(with) = meaning {
            out.extend(with.iter().map(OsString::from));
            continue;
        }
        if let Refused(why) = meaning {
            return Err(format!("{text} is not done: {why}"));
        }
        let value = match joined {
            Some(value) => value.to_owned(),
            None => {
                let next = words
                    .next()
                    .ok_or_else(|| format!("{text} needs a value"))?;
                let shown = next.to_string_lossy().into_owned();
                next.into_string()
                    .map_err(|_| format!("{text} {shown}: the value is not readable text"))?
            }
        };
        out.extend(with_value(text, *meaning, &value)?);
    }
    Ok(out)
}

/// What a flag with a value becomes.
fn with_value(flag: &str, meaning: Meaning, value: &str) -> Result<Vec<OsString>, String> {
    let one = |word: String| vec![OsString::from(word)];
    Ok(match meaning {
        Is("-l") => linked(value)?,
        Is(own) if own.starts_with("--") => one(format!("{own}={value}")),
        Is(own) => one(format!("{own}{value}")),
        Words(own) => {
            let words = value.split([',', ' ']).filter(|word| !word.is_empty());
            let mut all: Vec<OsString> = words.map(|it| format!("{own}={it}").into()).collect();
            if own == "--host-option" && value.contains("-fopenmp") {
                all.push("--link-option=-fopenmp".into());
            }
            all
        }
        Generate => {
            let mut parts = value
                .split(',')
                .filter_map(|part| part.strip_prefix("arch="));
            let arch = parts.next_back();
            let arch = arch.ok_or_else(|| format!("{flag} {value}: it has no arch=compute_…"))?;
            one(format!("--arch={arch}"))
        }
        Stream => match value {
            "per-thread" => one("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1".to_owned()),
            "legacy" | "null" => Vec::new(),
            _ => {
                return Err(format!(
                    "{flag} {value}: there are legacy, null and per-thread"
                ));
            }
        },
        Relocatable => match value {
            "true" => one("--link-kernels".to_owned()),
            "false" => Vec::new(),
            _ => return Err(format!("{flag} {value}: there are true and false")),
        },
        Flush if value == "true" => FLUSH.map(OsString::from).into(),
        Fused if value == "false" => one("--device-option=-ffp-contract=off".to_owned()),
        _ => Vec::new(),
    })
}

/// A library to link to: CUDA's runtime is here already, and NVIDIA's other libraries are not.
fn linked(library: &str) -> Result<Vec<OsString>, String> {
    if PARTS_OF_CUDA.contains(&library) {
        return Ok(Vec::new());
    }
    if NOT_THERE
        .iter()
        .any(|name| library.trim_end_matches("_static") == *name)
    {
        return Err(format!(
            "-l{library}: cuda-run has CUDA's runtime and its driver's functions, and none of NVIDIA's \
             other libraries"
        ));
    }
    Ok(vec![format!("-l{library}").into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<String, String> {
        let words = ["cuda-run"].iter().chain(words).map(OsString::from);
        let words = translated(words)?.into_iter().skip(1);
        let words: Vec<String> = words.map(|word| word.into_string().unwrap()).collect();
        Ok(words.join(" "))
    }

    #[test]
    fn flags_of_nvcc_become_ours() {
        for (pasted, ours) in [
            ("-O3 -arch=sm_70 a.cu -o a", "-O3 --arch=sm_70 a.cu"),
            ("-std=c++14 -lm a.cu", "--std=c++14 -lm a.cu"),
            ("-std c++20 --std=c++11", "--std=c++20 --std=c++11"),
            (
                "-gencode arch=compute_80,code=sm_80 -lineinfo",
                "--arch=compute_80",
            ),
            (
                "-Xcompiler -Wall,-march=native",
                "--host-option=-Wall --host-option=-march=native",
            ),
            (
                "-rdc=false -Xptxas -v -maxrregcount=32 -lcudart -G a.cu",
                "a.cu",
            ),
            ("-rdc=true a.cu b.cu", "--link-kernels a.cu b.cu"),
            ("--relocatable-device-code true a.cu", "--link-kernels a.cu"),
            ("-dc a.cu", "--link-kernels a.cu"),
            ("-fmad=false", "--device-option=-ffp-contract=off"),
            (
                "-ftz=true -prec-div=false",
                "--device-option=-fcuda-flush-denormals-to-zero --device-option=-D__CUDA_FTZ=1",
            ),
            ("-ftz=false", ""),
            (
                "-I inc -D arch=3 -Iother a.cu",
                "-I inc -D arch=3 -Iother a.cu",
            ),
            (
                "--profile=lines --check a.cu -- -o x --",
                "--profile=lines --check a.cu -- -o x --",
            ),
            (
                "--default-stream per-thread",
                "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1",
            ),
        ] {
            let words: Vec<&str> = pasted.split(' ').collect();
            assert_eq!(of(&words).unwrap(), ours, "{pasted}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_reason() {
        for (pasted, said) in [
            (
                "-c a.cu",
                "-c is not done: cuda-run compiles a program and runs it",
            ),
            ("a.cu -lcublas", "-lcublas: cuda-run has CUDA's runtime"),
            ("--library curand", "-lcurand: cuda-run has"),
            ("-gencode sm_70", "it has no arch=compute_"),
            ("-m32", "64 bits"),
            ("-rdc=yes", "yes: there are true and false"),
            ("-arch", "-arch needs a value"),
            (
                "--default-stream=mine",
                "there are legacy, null and per-thread",
            ),
        ] {
            let words: Vec<&str> = pasted.split(' ').collect();
            let why = of(&words).unwrap_err();
            assert!(why.contains(said), "{pasted}: {why}");
        }
    }
}
