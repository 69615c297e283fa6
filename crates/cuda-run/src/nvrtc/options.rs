//! The options of `nvrtcCompileProgram`.

use common::gpu::Capability;

use crate::compile::{OLDEST_ARCH, arch_number};
use crate::flags::CompileFlags;
use crate::nvcc::{FAST_MATH, FLUSH_DENORMALS, NO_MULTIPLY_ADD};

/// The architecture that NVRTC compiles for if the program names none.
const DEFAULT_ARCH: Capability = Capability(7, 5);

/// The options of one compilation.
#[derive(Debug)]
pub struct Options {
    pub flags: CompileFlags,
    pub arch: Capability,
    /// The architecture with features of its own, such as `sm_90a`, that the program names.
    pub specific_arch: Option<String>,
    /// True for an architecture such as `sm_80`, for which NVRTC creates machine code next to the PTX.
    pub is_real_arch: bool,
    /// True if functions without an attribute are for the device.
    pub default_device: bool,
    /// True if the source may include headers of the directory in its name.
    pub includes_source_dir: bool,
    /// Headers to include before the source.
    pub included: Vec<String>,
}

/// The meaning of an option.
#[derive(Clone, Copy)]
enum Meaning {
    Arch,
    Include,
    Define,
    Undefine,
    IncludeBefore,
    Standard,
    FastMath,
    FlushDenormals,
    MultiplyAdd,
    DefaultDevice,
    NoSourceDir,
    NoWarnings,
    /// Takes no value and has no effect here.
    Ignored,
    /// Takes a value and has no effect here.
    IgnoredValue,
    /// Not supported, for this reason.
    Unsupported(&'static str),
}

const NO_LINK_TIME_CODE: &str =
    "there is no code for the link-time optimizer; compile to PTX and link with cuLinkAddData";

/// NVRTC's options by name, without the leading dashes.
const OPTIONS: &[(&str, Meaning)] = &[
    ("gpu-architecture arch", Meaning::Arch),
    ("include-path I", Meaning::Include),
    ("define-macro D", Meaning::Define),
    ("undefine-macro U", Meaning::Undefine),
    ("pre-include include", Meaning::IncludeBefore),
    ("std", Meaning::Standard),
    ("use_fast_math", Meaning::FastMath),
    ("ftz", Meaning::FlushDenormals),
    ("fmad", Meaning::MultiplyAdd),
    (
        "device-as-default-execution-space default-device",
        Meaning::DefaultDevice,
    ),
    ("no-source-include", Meaning::NoSourceDir),
    ("disable-warnings w", Meaning::NoWarnings),
    (
        "device-debug G generate-line-info lineinfo device-c dc device-w dw relocatable-device-code rdc \
         extensible-whole-program ewp dopt extra-device-vectorization restrict device-int128 \
         display-error-number err-no no-display-error-number no-err-no Werror brief-diagnostics brief-diag minimal \
         modify-stack-limit builtin-move-forward builtin-initializer-list version-ident dQ",
        Meaning::Ignored,
    ),
    (
        "maxrregcount prec-sqrt prec-div ptxas-options Xptxas optimization-info opt-info diag-error diag-suppress \
         diag-warn time split-compile fdevice-time-trace Ofast-compile Ofc jump-table-density jtd",
        Meaning::IgnoredValue,
    ),
    (
        "dlink-time-opt dlto gen-opt-lto",
        Meaning::Unsupported(NO_LINK_TIME_CODE),
    ),
    (
        "create-pch use-pch pch",
        Meaning::Unsupported("headers cannot be precompiled"),
    ),
];

/// Parses the options.
///
/// # Errors
///
/// Returns the message for the program's log if an option is unknown or its value is invalid.
pub fn parse(options: &[String]) -> Result<Options, String> {
    let mut parsed = Options {
        flags: CompileFlags {
            standard: "c++17".to_owned(),
            optimization: "2".to_owned(),
            define: vec!["__CUDACC_RTC__=1".to_owned()],
            // The source may have no variables for the attribute that it is wrapped in.
            kernels: vec!["-Wno-pragma-clang-attribute".to_owned()],
            ..CompileFlags::default()
        },
        arch: DEFAULT_ARCH,
        specific_arch: None,
        is_real_arch: false,
        default_device: false,
        includes_source_dir: true,
        included: Vec::new(),
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let (name, joined) = split(option);
        let known = OPTIONS.iter();
        let mut known =
            known.filter(|(names, _)| names.split_whitespace().any(|known| known == name));
        let Some((_, meaning)) = known.next() else {
            return Err(format!("nvrtc: error: unrecognized option {option} found"));
        };
        let mut value = || {
            let value = joined.or_else(|| options.next().map(String::as_str));
            value.ok_or_else(|| format!("nvrtc: error: {option} needs a value"))
        };
        parsed.add(option, *meaning, &mut value)?;
    }
    Ok(parsed)
}

/// Splits an option into its name and a value that follows in the same word: `--std=c++17`, `-DN=1`.
fn split(option: &str) -> (&str, Option<&str>) {
    let text = option.trim_start_matches('-');
    let is_short = option.len() == text.len() + 1;
    if is_short
        && let Some(value) = text.strip_prefix(['I', 'D', 'U'])
        && !value.is_empty()
    {
        return (&text[..1], Some(value.strip_prefix('=').unwrap_or(value)));
    }
    match text.split_once('=') {
        _ if option == text => ("", None),
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

impl Options {
    /// Adds an option. `value` returns its value.
    fn add<'a>(
        &mut self,
        option: &str,
        meaning: Meaning,
        value: &mut dyn FnMut() -> Result<&'a str, String>,
    ) -> Result<(), String> {
        let flags = &mut self.flags;
        match meaning {
            Meaning::Arch => {
                let name = value()?;
                (self.arch, self.is_real_arch) = parse_arch(name).ok_or_else(|| {
                    format!(
                        "nvrtc: error: invalid value for --gpu-architecture (-arch): {name}; expected an architecture \
                         such as compute_80 or sm_80"
                    )
                })?;
                self.specific_arch = name.ends_with('a').then(|| name.to_owned());
            }
            Meaning::Include => flags.include.push(value()?.trim().into()),
            Meaning::Define => flags.define.push(value()?.trim().to_owned()),
            Meaning::Undefine => flags.undefine.push(value()?.trim().to_owned()),
            Meaning::IncludeBefore => self.included.push(value()?.to_owned()),
            Meaning::Standard => {
                let standard = value()?;
                if !["c++03", "c++11", "c++14", "c++17", "c++20"].contains(&standard) {
                    return Err(format!(
                        "nvrtc: error: invalid value for --std: {standard}; expected c++17, for example"
                    ));
                }
                flags.standard = standard.to_owned();
            }
            Meaning::FastMath => flags
                .kernels
                .extend(FAST_MATH.iter().map(ToString::to_string)),
            Meaning::FlushDenormals if is_true(option, value()?)? => {
                flags
                    .kernels
                    .extend(FLUSH_DENORMALS.iter().map(ToString::to_string));
            }
            Meaning::MultiplyAdd if !is_true(option, value()?)? => {
                flags.kernels.push(NO_MULTIPLY_ADD.to_owned());
            }
            Meaning::DefaultDevice => self.default_device = true,
            Meaning::NoSourceDir => self.includes_source_dir = false,
            Meaning::NoWarnings => flags.kernels.push("-w".to_owned()),
            Meaning::IgnoredValue => drop(value()?),
            Meaning::Unsupported(reason) => {
                return Err(format!("nvrtc: error: {option} is not supported: {reason}"));
            }
            Meaning::FlushDenormals | Meaning::MultiplyAdd | Meaning::Ignored => {}
        }
        Ok(())
    }
}

fn is_true(option: &str, value: &str) -> Result<bool, String> {
    value
        .parse()
        .map_err(|_| format!("nvrtc: error: {option}: expected true or false"))
}

/// Parses an architecture. Returns true next to it if it is a real one. Architectures older than those that clang
/// supports are replaced by the oldest, whose PTX newer GPUs run too.
fn parse_arch(name: &str) -> Option<(Capability, bool)> {
    let number = arch_number(name).filter(|number| (10..200).contains(number))?;
    let number = number.max(OLDEST_ARCH) as i32;
    let is_real = name.starts_with("sm_");
    Some((Capability(number / 10, number % 10), is_real))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Options, String> {
        let options: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&options)
    }

    #[test]
    fn known_options_set_flags() {
        let options = parse_line(
            "--gpu-architecture=sm_90a -I inc -I/usr/x --include-path=/y -DA=1 -D B --define-macro=C -UE --std=c++20 \
             -default-device -G --fmad=false --maxrregcount=32 -include first.h -rdc=true",
        )
        .unwrap();
        let flags = &options.flags;
        let includes: Vec<_> = flags
            .include
            .iter()
            .map(|dir| dir.display().to_string())
            .collect();
        assert_eq!(includes, ["inc", "/usr/x", "/y"]);
        assert_eq!(flags.define[1..], ["A=1", "B", "C"]);
        assert_eq!(
            (&*flags.undefine, &*flags.standard),
            (&["E".to_owned()][..], "c++20")
        );
        assert_eq!(
            (options.arch, options.is_real_arch),
            (Capability(9, 0), true)
        );
        assert_eq!(options.specific_arch.as_deref(), Some("sm_90a"));
        assert_eq!(flags.kernels[1..], ["-ffp-contract=off"]);
        assert_eq!(options.included, ["first.h"]);
        assert!(options.default_device);
        let options = parse_line("-arch compute_35 --use_fast_math --ftz=false").unwrap();
        assert_eq!(
            (options.arch, options.is_real_arch),
            (Capability(5, 0), false)
        );
        assert!(options.flags.kernels.contains(&"-ffast-math".to_owned()));
        assert_eq!(parse(&[]).unwrap().arch, DEFAULT_ARCH);
    }

    #[test]
    fn invalid_options_are_rejected_with_the_reason() {
        for (line, expected) in [
            ("--fast", "unrecognized option --fast found"),
            ("D", "unrecognized option D found"),
            (
                "-arch=sm_x",
                "invalid value for --gpu-architecture (-arch): sm_x",
            ),
            ("-arch", "-arch needs a value"),
            ("--std=c++98", "invalid value for --std: c++98"),
            ("--ftz=1", "--ftz=1: expected true or false"),
            (
                "-dlto",
                "-dlto is not supported: there is no code for the link-time optimizer",
            ),
        ] {
            let error = parse_line(line).unwrap_err();
            assert!(
                error.starts_with("nvrtc: error: ") && error.contains(expected),
                "{error}"
            );
        }
    }
}
