//! Functions and variables that kernels use but no file of the program defines.

use std::collections::HashMap;
use std::fmt;

use cuda_driver::CallSite;
use cuda_driver::names::with_parameters;

/// Functions that the driver provides.
const DRIVER_FUNCTIONS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// An undefined symbol.
pub struct Undefined {
    /// The kind and the name: `function twice(int)`.
    pub name: String,
    /// The location of the first use.
    pub location: Option<CallSite>,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.location {
            Some(CallSite { file, line }) => write!(f, " (used in {file}:{line})"),
            None => Ok(()),
        }
    }
}

/// Lists the undefined symbols of a module.
pub fn undefined(ptx: &str) -> Vec<Undefined> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    let mut files: HashMap<&str, &str> = HashMap::new();
    for line in ptx.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix(".extern .func") {
            // .extern .func  (.param .b32 func_retval0) NAME
            let rest = rest.trim_start();
            let return_value = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            let name = return_value.map_or(rest, |(_, name)| name.trim_start());
            let name = name.split(|c| !is_name_char(c)).next().unwrap_or_default();
            names.push(("function", name));
        } else if let Some(rest) = line
            .strip_prefix(".extern .global")
            .or(line.strip_prefix(".extern .const"))
        {
            // .extern .global .align 4 .b8 NAME[16];
            let name = rest.rsplit(' ').next().unwrap_or_default();
            let name = name.split(['[', ';']).next().unwrap_or_default();
            names.push(("variable", name));
        } else if let Some(rest) = line.strip_prefix(".file") {
            // .file 1 "NAME"
            if let Some((number, name)) = rest.trim().split_once(char::is_whitespace) {
                files.insert(number, name.trim().trim_matches('"'));
            }
        }
    }
    names.retain(|(_, name)| !DRIVER_FUNCTIONS.contains(name));
    let uses = names.iter().map(|(kind, name)| Undefined {
        name: format!("{kind} {}", with_parameters(name)),
        location: first_use(ptx, name, &files),
    });
    uses.collect()
}

/// Returns true if a name in PTX may contain this character.
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Returns the source location of the first instruction that contains this name.
fn first_use(ptx: &str, name: &str, files: &HashMap<&str, &str>) -> Option<CallSite> {
    let mut location = None;
    for line in ptx.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix(".loc") {
            // .loc 1 12 5
            let mut numbers = rest.split_whitespace();
            location = numbers.next().zip(numbers.next());
        } else if line.starts_with(['.', '/', '(', ')', '{', '}']) {
            continue;
        } else if line.split(|c| !is_name_char(c)).any(|word| word == name) {
            let (file, number) = location?;
            return Some(CallSite {
                file: files.get(file)?.trim_start_matches("./").to_owned(),
                line: number.parse().ok()?,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "
.extern .func  (.param .b32 func_retval0) vprintf
(
        .param .b64 vprintf_param_0,
        .param .b64 vprintf_param_1
)
;
.extern .func  (.param .b32 func_retval0) _Z5twicei
(
        .param .b32 _Z5twicei_param_0
)
;
.extern .func stop()
;
.extern .global .align 4 .u32 counter;
.extern .const .align 4 .b8 scale[8];
.extern .shared .align 4 .b8 buffer[];

.visible .entry k(
        .param .u64 k_param_0
)
{
        .file   1 \"./main.cu\"
        .loc    1 9 0
        ld.global.u32   %r1, [counters];
        .loc    1 12 5
        { // callseq 0, 0
        call.uni (retval0),
        _Z5twicei,
        (
        param0
        );
        .loc    1 14 3
        ld.global.u32   %r1, [counter];
        call.uni stop, ();
}
";

    #[test]
    fn undefined_symbols_are_reported_with_their_first_use() {
        let symbols = undefined(PTX);
        let symbols: Vec<String> = symbols.iter().map(ToString::to_string).collect();
        assert_eq!(
            symbols,
            [
                "function twice(int) (used in main.cu:12)",
                "function stop (used in main.cu:14)",
                "variable counter (used in main.cu:14)",
                "variable scale",
            ]
        );
        assert!(undefined(".visible .func f()\n{\nret;\n}\n").is_empty());
    }
}
