//! NVRTC, the library with which programs compile CUDA C++ while they run. The clang that compiled the program compiles
//! its kernels, to PTX, on the simulator and on a GPU.
//!
//! There is no machine code: where a program requests it, it gets the PTX, which the driver loads in the same way.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Write as _;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use common::error::describe;
use common::gpu::Capability;
use cuda_driver::SIMULATED_VERSION;

use crate::compile::{
    KernelText, OLDEST_ARCH, arch_number, compile_text, is_name_char, supported_archs,
};
use crate::flags::CompileFlags;
use crate::nvcc::{FAST_MATH, FLUSH_DENORMALS, NO_MULTIPLY_ADD};

/// `nvrtcResult`.
type Code = c_int;
/// `nvrtcProgram`: the program's number, as a pointer.
type Handle = *mut Program;

const SUCCESS: Code = 0;
const INVALID_INPUT: Code = 3;
const INVALID_PROGRAM: Code = 4;
const INVALID_OPTION: Code = 5;
const COMPILATION: Code = 6;
const NO_NAME_EXPRESSIONS_AFTER_COMPILATION: Code = 8;
const NO_LOWERED_NAMES_BEFORE_COMPILATION: Code = 9;
const NAME_EXPRESSION_NOT_VALID: Code = 10;
const INTERNAL_ERROR: Code = 11;

/// The names of the errors, by number.
const ERRORS: [&CStr; 17] = [
    c"NVRTC_SUCCESS",
    c"NVRTC_ERROR_OUT_OF_MEMORY",
    c"NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    c"NVRTC_ERROR_INVALID_INPUT",
    c"NVRTC_ERROR_INVALID_PROGRAM",
    c"NVRTC_ERROR_INVALID_OPTION",
    c"NVRTC_ERROR_COMPILATION",
    c"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    c"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    c"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    c"NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    c"NVRTC_ERROR_INTERNAL_ERROR",
    c"NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    c"NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    c"NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    c"NVRTC_ERROR_PCH_CREATE",
    c"NVRTC_ERROR_CANCELLED",
];

/// A program, and the result of its compilation.
#[derive(Default)]
pub struct Program {
    source: String,
    name: String,
    /// The names by which headers are included, and their texts.
    headers: Vec<(String, String)>,
    expressions: Vec<String>,
    log: CString,
    output: Option<Output>,
}

/// The result of a compilation.
struct Output {
    ptx: CString,
    /// True if the program was compiled for a real architecture, for which NVRTC creates machine code.
    is_real_arch: bool,
    /// The name in the PTX of each name expression.
    names: BTreeMap<String, CString>,
}

/// The program may write to static variables through their addresses, which the compiler does not see. A variable with any
/// annotation is not optimized to a constant.
const BEFORE_SOURCE: &str = "#pragma clang attribute push(__attribute__((annotate(\"\"))), apply_to = variable(is_global))\n";
const AFTER_SOURCE: &str = "#pragma clang attribute pop\n";

/// The prefix of the variables that contain the addresses of name expressions.
const NAME_VARIABLE: &str = "warpbook_nvrtc_name_";

impl Program {
    /// Compiles the program.
    fn compile(&mut self, options: &[String]) -> Result<(), Code> {
        self.output = None;
        let mut options = parse(options).map_err(|message| self.fail(INVALID_OPTION, &message))?;
        if options.includes_source_dir {
            let dir = Path::new(&self.name).parent();
            let dir = dir.filter(|dir| !dir.as_os_str().is_empty());
            let dir = dir.unwrap_or(Path::new("."));
            options.flags.include.push(dir.to_owned());
        }
        let text = KernelText {
            source: self.source(&options),
            headers: &self.headers,
        };
        let compiled = compile_text(options.flags, (options.arch, options.specific_arch), &text)
            .map_err(|error| {
                self.fail(
                    INTERNAL_ERROR,
                    &format!("nvrtc: error: {}", describe(&error)),
                )
            })?;
        let Some(ptx) = compiled.ptx else {
            return Err(self.fail(COMPILATION, &compiled.messages));
        };
        self.log = c_string(&compiled.messages);
        let (ptx, names) = take_names(&name_statics(&ptx), &self.expressions);
        self.output = Some(Output {
            ptx: c_string(&ptx),
            is_real_arch: options.is_real_arch,
            names,
        });
        Ok(())
    }

    /// Sets the log, and returns the error.
    fn fail(&mut self, code: Code, log: &str) -> Code {
        self.log = c_string(log);
        code
    }

    /// Returns the source for clang. Behind the program's own text, each name expression initializes a variable: this
    /// instantiates templates, and the PTX contains the name next to that of the variable.
    fn source(&self, options: &Options) -> String {
        let mut source = String::new();
        for header in &options.included {
            let _ = writeln!(source, "#include \"{header}\"");
        }
        source += BEFORE_SOURCE;
        if options.default_device {
            source += "#pragma clang force_cuda_host_device begin\n";
        }
        let _ = write!(
            source,
            "#line 1 \"{}\"\n{}\n",
            self.name.escape_default(),
            self.source
        );
        if options.default_device {
            source += "#pragma clang force_cuda_host_device end\n";
        }
        source += AFTER_SOURCE;
        for (index, expression) in self.expressions.iter().enumerate() {
            let _ = write!(
                source,
                "#line 1 \"name expression\"\nextern \"C\" __device__ void *{NAME_VARIABLE}{index} = (void *)({expression});\n"
            );
        }
        source
    }
}

/// Gives static variables the names that NVRTC gives them: those in the source, which clang mangles.
fn name_statics(ptx: &str) -> String {
    let mut renamed = ptx.to_owned();
    for line in ptx.lines() {
        // .const .align 4 .b8 _ZL5cells[16];
        let declaration = line.trim_start_matches(".visible ");
        let is_variable = declaration.starts_with(".global ") || declaration.starts_with(".const ");
        let Some((_, mangled)) = line.split_once(" _ZL").filter(|_| is_variable) else {
            continue;
        };
        let mangled = mangled
            .split(|c| !is_name_char(c))
            .next()
            .unwrap_or_default();
        let name = mangled.trim_start_matches(|c: char| c.is_ascii_digit());
        let has_length = mangled.strip_suffix(name) == Some(&name.len().to_string());
        let is_free = !ptx.split(|c| !is_name_char(c)).any(|word| word == name);
        if has_length && is_free {
            renamed = renamed.replace(&format!("_ZL{mangled}"), name);
        }
    }
    renamed
}

/// Removes the variables of name expressions from the PTX. Returns it, and the name that each expression has there.
fn take_names(ptx: &str, expressions: &[String]) -> (String, BTreeMap<String, CString>) {
    let mut names = BTreeMap::new();
    let mut kept = String::new();
    for line in ptx.split_inclusive('\n') {
        // .visible .global .align 8 .u64 VARIABLE = generic(NAME);
        let Some((_, rest)) = line.split_once(NAME_VARIABLE) else {
            kept += line;
            continue;
        };
        if let Some((index, value)) = rest.split_once(" = ")
            && let Some(expression) = index
                .parse()
                .ok()
                .and_then(|index: usize| expressions.get(index))
        {
            let value = value.trim().trim_end_matches(';');
            let inner = value
                .strip_prefix("generic(")
                .and_then(|value| value.strip_suffix(')'));
            names.insert(expression.clone(), c_string(inner.unwrap_or(value)));
        }
    }
    (kept, names)
}

/// Converts a text to a C string, without NUL characters, which clang's output does not contain.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// The programs that have not been destroyed, by number.
struct Programs {
    last_number: usize,
    live: BTreeMap<usize, Arc<Mutex<Program>>>,
}

static PROGRAMS: Mutex<Programs> = Mutex::new(Programs {
    last_number: 0,
    live: BTreeMap::new(),
});

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `f` with a program. Returns its error, or that of an invalid program.
fn with_program(
    handle: Handle,
    f: impl FnOnce(&mut Program) -> Result<(), Code>,
) -> Result<(), Code> {
    let program = lock(&PROGRAMS).live.get(&handle.addr()).cloned();
    let program = program.ok_or(INVALID_PROGRAM)?;
    f(&mut lock(&program))
}

/// Calls `f` with the result of a program's compilation.
fn with_output(handle: Handle, f: impl FnOnce(&Output) -> Result<(), Code>) -> Result<(), Code> {
    with_program(handle, |program| {
        f(program.output.as_ref().ok_or(INVALID_PROGRAM)?)
    })
}

/// Writes a value through an out-parameter.
///
/// # Safety
///
/// The pointer must be null or writable.
unsafe fn set<T>(to: *mut T, value: T) -> Result<(), Code> {
    let to = NonNull::new(to).ok_or(INVALID_INPUT)?;
    // SAFETY: the caller passes a writable pointer.
    unsafe { to.write(value) };
    Ok(())
}

/// Writes bytes to a buffer.
///
/// # Safety
///
/// The pointer must be null or a buffer of this many bytes.
unsafe fn copy(to: *mut c_char, bytes: &[u8]) -> Result<(), Code> {
    let to = NonNull::new(to).ok_or(INVALID_INPUT)?;
    // SAFETY: the caller passes a buffer for these bytes, which Rust's memory does not overlap.
    unsafe {
        to.cast::<u8>()
            .copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len())
    };
    Ok(())
}

/// Reads a C string.
///
/// # Safety
///
/// The pointer must be null or point to a string.
unsafe fn text(from: *const c_char) -> Result<String, Code> {
    if from.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: the caller passes a string.
    let text = unsafe { CStr::from_ptr(from) };
    Ok(text.to_string_lossy().into_owned())
}

/// Reads an array of C strings.
///
/// # Safety
///
/// The pointer must be null or point to this number of strings.
unsafe fn texts(from: *const *const c_char, count: c_int) -> Result<Vec<String>, Code> {
    let count = usize::try_from(count).map_err(|_| INVALID_INPUT)?;
    if count > 0 && from.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: the caller passes an array of `count` strings.
    (0..count)
        .map(|index| unsafe { text(*from.add(index)) })
        .collect()
}

/// Defines exported C functions whose bodies are unsafe and return a `Result`.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        $(
            /// NVRTC's function of this name.
            ///
            /// # Safety
            ///
            /// The arguments must meet the requirements of NVIDIA's documentation.
            #[unsafe(no_mangle)]
            #[allow(unused_unsafe, reason = "some bodies use no pointer of the caller")]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> Code {
                let call = || -> Result<(), Code> {
                    // SAFETY: the arguments are the C caller's, and meet the documented requirements.
                    unsafe { $body }
                };
                call().err().unwrap_or(SUCCESS)
            }
        )*
    };
}

functions! {
    nvrtcVersion(major: *mut c_int, minor: *mut c_int) {
        set(major, SIMULATED_VERSION / 1000)?;
        set(minor, SIMULATED_VERSION % 1000 / 10)
    }
    nvrtcGetNumSupportedArchs(count: *mut c_int) {
        set(count, supported_archs().map_err(|_| INTERNAL_ERROR)?.len() as c_int)
    }
    nvrtcGetSupportedArchs(to: *mut c_int) {
        for (index, arch) in supported_archs().map_err(|_| INTERNAL_ERROR)?.into_iter().enumerate() {
            set(to.wrapping_add(index), arch as c_int)?;
        }
        Ok(())
    }
    nvrtcCreateProgram(
        to: *mut Handle, source: *const c_char, name: *const c_char, header_count: c_int,
        headers: *const *const c_char, include_names: *const *const c_char
    ) {
        let names = texts(include_names, header_count)?;
        let program = Program {
            source: text(source)?,
            name: text(name).ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "default_program".to_owned()),
            headers: names.into_iter().zip(texts(headers, header_count)?).collect(),
            ..Program::default()
        };
        let mut programs = lock(&PROGRAMS);
        let number = programs.last_number + 1;
        set(to, std::ptr::without_provenance_mut(number))?;
        programs.last_number = number;
        programs.live.insert(number, Arc::new(Mutex::new(program)));
        Ok(())
    }
    nvrtcDestroyProgram(program: *mut Handle) {
        if program.is_null() {
            return Err(INVALID_PROGRAM);
        }
        let removed = lock(&PROGRAMS).live.remove(&(*program).addr());
        *program = std::ptr::null_mut();
        removed.map(drop).ok_or(INVALID_PROGRAM)
    }
    nvrtcCompileProgram(program: Handle, option_count: c_int, options: *const *const c_char) {
        let options = texts(options, option_count)?;
        with_program(program, |program| program.compile(&options))
    }
    nvrtcGetProgramLogSize(program: Handle, size: *mut usize) {
        with_program(program, |program| set(size, program.log.as_bytes_with_nul().len()))
    }
    nvrtcGetProgramLog(program: Handle, log: *mut c_char) {
        with_program(program, |program| copy(log, program.log.as_bytes_with_nul()))
    }
    nvrtcGetPTXSize(program: Handle, size: *mut usize) {
        with_output(program, |output| set(size, output.ptx.as_bytes_with_nul().len()))
    }
    nvrtcGetPTX(program: Handle, ptx: *mut c_char) {
        with_output(program, |output| copy(ptx, output.ptx.as_bytes_with_nul()))
    }
    nvrtcGetCUBINSize(program: Handle, size: *mut usize) {
        with_output(program, |output| set(size, output.cubin().len()))
    }
    nvrtcGetCUBIN(program: Handle, cubin: *mut c_char) {
        with_output(program, |output| copy(cubin, output.cubin()))
    }
    nvrtcGetLTOIRSize(program: Handle, size: *mut usize) {
        with_output(program, |_| set(size, 0))
    }
    nvrtcGetLTOIR(program: Handle, _code: *mut c_char) { with_output(program, |_| Ok(())) }
    nvrtcGetOptiXIRSize(program: Handle, size: *mut usize) {
        with_output(program, |_| set(size, 0))
    }
    nvrtcGetOptiXIR(program: Handle, _code: *mut c_char) { with_output(program, |_| Ok(())) }
    nvrtcAddNameExpression(program: Handle, expression: *const c_char) {
        let expression = text(expression)?;
        with_program(program, |program| {
            if program.output.is_some() {
                return Err(NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
            }
            program.expressions.push(expression);
            Ok(())
        })
    }
    nvrtcGetLoweredName(program: Handle, expression: *const c_char, name: *mut *const c_char) {
        let expression = text(expression)?;
        with_program(program, |program| {
            let output = program.output.as_ref().ok_or(NO_LOWERED_NAMES_BEFORE_COMPILATION)?;
            let lowered = output.names.get(&expression).ok_or(NAME_EXPRESSION_NOT_VALID)?;
            set(name, lowered.as_ptr())
        })
    }
}

impl Output {
    /// Returns what stands for machine code: the PTX, or nothing for a virtual architecture.
    fn cubin(&self) -> &[u8] {
        if self.is_real_arch {
            self.ptx.as_bytes_with_nul()
        } else {
            &[]
        }
    }
}

/// Returns the name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(code: Code) -> *const c_char {
    let name = usize::try_from(code).ok().and_then(|code| ERRORS.get(code));
    name.map_or(c"NVRTC_ERROR unknown", |name| name).as_ptr()
}

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

    #[test]
    fn static_variables_keep_their_names_in_the_source() {
        let ptx = ".const .align 4 .b8 _ZL5cells[16];\n.global .align 4 .u32 _ZL4used;\n.visible .entry used()\n{\n\
                   ld.const.u32 %r1, [_ZL5cells+4];\nld.global.u32 %r2, [_ZL4used];\n";
        let expected = ptx.replace("_ZL5cells", "cells");
        assert_eq!(name_statics(ptx), expected);
    }

    #[test]
    fn the_ptx_contains_the_names_of_expressions_but_not_their_variables() {
        let variable = |index: usize, value: &str| {
            format!(".visible .global .align 8 .u64 {NAME_VARIABLE}{index} = {value};\n")
        };
        let ptx = format!(
            ".version 7.0\n{}{}.visible .entry _Z1kIiEvv()\n",
            variable(0, "_Z1kIiEvv"),
            variable(1, "generic(cells)")
        );
        let expressions = ["k<int>", "&cells"].map(str::to_owned);
        let (kept, names) = take_names(&ptx, &expressions);
        assert_eq!(kept, ".version 7.0\n.visible .entry _Z1kIiEvv()\n");
        assert_eq!(names["k<int>"].as_c_str(), c"_Z1kIiEvv");
        assert_eq!(names["&cells"].as_c_str(), c"cells");
    }

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
