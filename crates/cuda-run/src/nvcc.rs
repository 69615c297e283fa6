//! Translation of nvcc's flags, which users paste from other build scripts, to this program's flags; and the values of
//! this program's own flags that could be taken for source files.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::compile::{Linked, find_linked, is_source};

/// The translation of one of nvcc's flags.
#[derive(Clone, Copy)]
enum Translation {
    /// Takes a value and is replaced by this flag.
    Flag(&'static str),
    /// Takes a comma-separated list, each item of which is passed with this flag.
    EachWord(&'static str),
    /// Takes no value and is replaced by these arguments.
    Replacement(&'static [&'static str]),
    /// Takes no value and passes these arguments to clang in the device pass.
    DeviceOptions(&'static [&'static str]),
    /// Takes a value and has no effect here.
    IgnoredValue,
    /// `-gencode arch=compute_70,code=sm_70`.
    Gencode,
    /// `--default-stream`.
    DefaultStream,
    /// `-fmad`.
    Fmad,
    /// `-rdc`.
    Rdc,
    /// `-ftz`.
    Ftz,
    /// Not supported, for this reason.
    Unsupported(&'static str),
}

use Translation::{
    DefaultStream, DeviceOptions, EachWord, Flag, Fmad, Ftz, Gencode, IgnoredValue, Rdc,
    Replacement, Unsupported,
};

const COMPILES_AND_RUNS: &str = "cuda-run compiles and runs a program, and writes no output files";
/// clang's arguments in the device pass for `--use_fast_math`.
pub const FAST_MATH: &[&str] = &[
    "-ffast-math",
    // Programs test for finite numbers, which nvcc's flag leaves intact.
    "-fno-finite-math-only",
    "-fcuda-approx-transcendentals",
    "-D__USE_FAST_MATH__",
    FLUSH_DENORMALS[0],
    FLUSH_DENORMALS[1],
];
/// The same for `-ftz=true`, which flushes denormal floats to zero.
pub const FLUSH_DENORMALS: &[&str] = &["-fcuda-flush-denormals-to-zero", "-D__CUDA_FTZ=1"];
/// The same for `-fmad=false`.
pub const NO_MULTIPLY_ADD: &str = "-ffp-contract=off";

/// nvcc's flags by name, without the leading dashes.
const NVCC_FLAGS: &[(&str, Translation)] = &[
    ("arch gpu-architecture", Flag("--arch")),
    ("std", Flag("--std")),
    ("gencode generate-code", Gencode),
    ("code gpu-code", IgnoredValue),
    ("Xcompiler compiler-options", EachWord("--host-option")),
    ("Xlinker linker-options", EachWord("--link-option")),
    ("Xptxas ptxas-options Xnvlink nvlink-options", IgnoredValue),
    ("maxrregcount threads split-compile t", IgnoredValue),
    ("ccbin compiler-bindir cudart x optimize", IgnoredValue),
    ("o output-file odir output-directory", IgnoredValue),
    ("rdc relocatable-device-code", Rdc),
    // nvcc creates relocatable objects with this flag; here files are compiled and linked in one step.
    ("dc device-c", Replacement(&["--link-kernels"])),
    ("prec-div prec-sqrt diag-suppress m machine", IgnoredValue),
    ("default-stream", DefaultStream),
    ("ftz", Ftz),
    ("fmad", Fmad),
    ("use_fast_math", DeviceOptions(FAST_MATH)),
    ("include-path", Flag("-I")),
    ("define-macro", Flag("-D")),
    ("library", Flag("-l")),
    ("library-path", Flag("-L")),
    (
        "lineinfo generate-line-info g debug G device-debug",
        Replacement(&[]),
    ),
    (
        "expt-extended-lambda extended-lambda expt-relaxed-constexpr",
        Replacement(&[]),
    ),
    (
        "m64 restrict keep v verbose resource-usage Werror",
        Replacement(&[]),
    ),
    (
        "w disable-warnings",
        Replacement(&["--host-option=-w", "--device-option=-w"]),
    ),
    ("Wall", Replacement(&["--host-option=-Wall"])),
    ("Wextra", Replacement(&["--host-option=-Wextra"])),
    (
        "fopenmp",
        Replacement(&["--host-option=-fopenmp", "--link-option=-fopenmp"]),
    ),
    ("pthread", Replacement(&["--host-option=-pthread"])),
    (
        "c compile ptx cubin fatbin E M shared",
        Unsupported(COMPILES_AND_RUNS),
    ),
    (
        "dlink device-link lib dlto run",
        Unsupported(COMPILES_AND_RUNS),
    ),
    ("m32", Unsupported("only 64-bit programs are supported")),
];

/// This program's flags whose value is optional.
const OPTIONAL_VALUES: [&str; 3] = ["--json", "--check", "--profile"];

/// This program's flags that name files to write, with an example of a value.
const OUTPUT_FILES: [(&str, &str); 5] = [
    ("--json", "=report.json"),
    ("--sarif", " report.sarif"),
    ("--junit", " report.xml"),
    ("--log", " calls.log"),
    ("--plot", " times"),
];

/// Translates nvcc's flags in a command line to this program's own.
///
/// # Errors
///
/// Fails if a flag is not supported or its value is not valid.
pub fn translate(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    let mut args = args.into_iter().peekable();
    let mut translated: Vec<OsString> = args.next().into_iter().collect();
    let mut is_short_value = false;
    while let Some(arg) = args.next() {
        if arg == "--" {
            translated.push(arg);
            translated.extend(args.by_ref());
            break;
        }
        let text = match arg.to_str() {
            Some(text) if text.starts_with('-') && text.len() > 1 && !is_short_value => text,
            _ => {
                is_short_value = false;
                translated.push(arg);
                continue;
            }
        };
        let flag_text = text.trim_start_matches('-');
        let (name, joined) = match flag_text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag_text, None),
        };
        let entry = NVCC_FLAGS
            .iter()
            .find(|(names, _)| names.split(' ').any(|known| known == name));
        let is_long = text.starts_with("--");
        if let (None, Some(library)) = (
            entry,
            text.strip_prefix("-l")
                .filter(|library| !library.is_empty()),
        ) {
            translated.extend(link_flag(library)?);
            continue;
        }
        let Some((_, translation)) = entry else {
            // One of this program's own flags, or an unknown one that clap reports.
            is_short_value = !is_long && matches!(flag_text, "I" | "D" | "U" | "O" | "l" | "L");
            let flag = &text[..text.len() - joined.map_or(0, |value| value.len() + 1)];
            let is_value = takes_next(flag, joined, args.peek().map(OsString::as_os_str))?;
            let mut arg = arg.clone();
            if let Some(value) = args.next_if(|_| is_value) {
                arg.push("=");
                arg.push(value);
            }
            translated.push(arg);
            continue;
        };
        if let Replacement(replacement) = translation {
            translated.extend(replacement.iter().map(OsString::from));
            continue;
        }
        if let DeviceOptions(args) = translation {
            translated.extend(device_options(args));
            continue;
        }
        if let Unsupported(reason) = translation {
            return Err(format!("{text} is not supported: {reason}"));
        }
        let value = match joined {
            Some(value) => value.to_owned(),
            None => {
                let next = args.next().ok_or_else(|| format!("{text} needs a value"))?;
                let displayed = next.to_string_lossy().into_owned();
                next.into_string()
                    .map_err(|_| format!("{text} {displayed}: the value is not valid UTF-8"))?
            }
        };
        translated.extend(translate_value(text, *translation, &value)?);
    }
    Ok(translated)
}

/// Returns true if the next argument is the value of one of this program's flags although it does not follow a `=`:
/// `--json report.json`.
///
/// # Errors
///
/// Fails if a source file is where a value is expected, or the reverse.
fn takes_next(flag: &str, joined: Option<&str>, next: Option<&OsStr>) -> Result<bool, String> {
    let next = next.map(Path::new);
    let next =
        next.filter(|next| *next == "-" || !next.as_os_str().as_encoded_bytes().starts_with(b"-"));
    let shown = |file: &Path| file.display().to_string();
    if OPTIONAL_VALUES.contains(&flag)
        && joined.is_none()
        && let Some(next) = next
    {
        if is_source(next) {
            return Ok(false);
        }
        let is_json = next == "-"
            || next
                .extension()
                .is_some_and(|extension| extension == "json");
        if flag == "--json" && is_json {
            return Ok(true);
        }
        let next = shown(next);
        return Err(format!(
            "{next} is not a source file (.cu, .cpp, .c). If it is the value of {flag}, write {flag}={next}; to run a \
             compiled program, write it after --: cuda-run {flag} -- {next}"
        ));
    }
    let example = OUTPUT_FILES.iter().find(|(name, _)| *name == flag);
    let value = joined
        .map(Path::new)
        .or(next)
        .filter(|value| is_source(value));
    if let (Some((_, example)), Some(source)) = (example, value) {
        let source = shown(source);
        return Err(format!(
            "{flag} needs the name of a file to write, but {source} is a source file: write {flag}{example} {source}"
        ));
    }
    Ok(false)
}

/// Translates a flag with a value.
fn translate_value(
    flag: &str,
    translation: Translation,
    value: &str,
) -> Result<Vec<OsString>, String> {
    let single = |arg: String| vec![OsString::from(arg)];
    Ok(match translation {
        Flag("-l") => link_flag(value)?,
        Flag(flag_name) if flag_name.starts_with("--") => single(format!("{flag_name}={value}")),
        Flag(flag_name) => single(format!("{flag_name}{value}")),
        EachWord(flag_name) => {
            let args = value.split([',', ' ']).filter(|arg| !arg.is_empty());
            let mut flags: Vec<OsString> = args
                .map(|item| format!("{flag_name}={item}").into())
                .collect();
            if flag_name == "--host-option" && value.contains("-fopenmp") {
                flags.push("--link-option=-fopenmp".into());
            }
            flags
        }
        Gencode => {
            let mut parts = value
                .split(',')
                .filter_map(|part| part.strip_prefix("arch="));
            let arch = parts.next_back();
            let arch = arch.ok_or_else(|| format!("{flag} {value}: missing arch=compute_…"))?;
            single(format!("--arch={arch}"))
        }
        DefaultStream => match value {
            "per-thread" => single("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1".to_owned()),
            "legacy" | "null" => Vec::new(),
            _ => {
                return Err(format!(
                    "{flag} {value}: expected legacy, null or per-thread"
                ));
            }
        },
        Rdc => match value {
            "true" => single("--link-kernels".to_owned()),
            "false" => Vec::new(),
            _ => return Err(format!("{flag} {value}: expected true or false")),
        },
        Ftz if value == "true" => device_options(FLUSH_DENORMALS).collect(),
        Fmad if value == "false" => device_options(&[NO_MULTIPLY_ADD]).collect(),
        _ => Vec::new(),
    })
}

/// Returns the flags that pass these arguments to clang in the device pass.
fn device_options(args: &[&str]) -> impl Iterator<Item = OsString> {
    args.iter()
        .map(|arg| format!("--device-option={arg}").into())
}

/// Translates `-l`: some of NVIDIA's libraries are built in, and others are not available.
fn link_flag(library: &str) -> Result<Vec<OsString>, String> {
    match find_linked(library) {
        Linked::BuiltIn => Ok(Vec::new()),
        Linked::Missing(error) => Err(error),
        Linked::Other => Ok(vec![format!("-l{library}").into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate_line(args: &[&str]) -> Result<String, String> {
        let args = ["cuda-run"].iter().chain(args).map(OsString::from);
        let args = translate(args)?.into_iter().skip(1);
        let args: Vec<String> = args.map(|arg| arg.into_string().unwrap()).collect();
        Ok(args.join(" "))
    }

    #[test]
    fn nvcc_flags_are_translated() {
        for (nvcc, expected) in [
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
            (
                "--json o.json --sarif o.sarif a.cu",
                "--json=o.json --sarif o.sarif a.cu",
            ),
            (
                "--json a.cu --json - --check b.cu",
                "--json a.cu --json=- --check b.cu",
            ),
            ("a.cu --check --json", "a.cu --check --json"),
            ("--profile -- ./a", "--profile -- ./a"),
        ] {
            let args: Vec<&str> = nvcc.split(' ').collect();
            assert_eq!(translate_line(&args).unwrap(), expected, "{nvcc}");
        }
    }

    #[test]
    fn unsupported_flags_are_rejected_with_the_reason() {
        for (nvcc, expected) in [
            (
                "-c a.cu",
                "-c is not supported: cuda-run compiles and runs a program",
            ),
            (
                "a.cu -lcusolver",
                "-lcusolver belongs to cuSOLVER. cuda-run does not",
            ),
            ("--library cudnn_static", "-lcudnn belongs to cuDNN."),
            ("-gencode sm_70", "missing arch=compute_"),
            ("--sarif a.cu", "write --sarif report.sarif a.cu"),
            ("--junit=a.cu b.cu", "write --junit report.xml a.cu"),
            ("--json=a.cu", "write --json=report.json a.cu"),
            ("--json out a.cu", "write --json=out;"),
            ("--check mem,race a.cu", "write --check=mem,race;"),
            ("--profile ./a", "cuda-run --profile -- ./a"),
            ("-m32", "64-bit"),
            ("-rdc=yes", "yes: expected true or false"),
            ("-arch", "-arch needs a value"),
            (
                "--default-stream=mine",
                "expected legacy, null or per-thread",
            ),
        ] {
            let args: Vec<&str> = nvcc.split(' ').collect();
            let reason = translate_line(&args).unwrap_err();
            assert!(reason.contains(expected), "{nvcc}: {reason}");
        }
    }
}
