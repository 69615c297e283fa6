//! `extern "C" __constant__ Settings settings;` declares a variable, and clang leaves it to another file to
//! define it. An answer is one file, and the whole program: nvcc takes such a declaration for the definition,
//! and so it is taken here.

/// PTX in which variables that are only declared are defined. Shared memory of no fixed size stays declared:
/// the launch says how much there is.
pub fn defined(ptx: &str) -> String {
    const DECLARED: &str = ".extern ";
    let define = |line: &str| {
        let variable = line.strip_prefix(DECLARED).filter(|rest| {
            [".const ", ".global "]
                .iter()
                .any(|space| rest.starts_with(space))
                && !rest.contains("[]")
        });
        match variable {
            Some(variable) => format!(".visible {variable}"),
            None => line.to_owned(),
        }
    };
    let lines = ptx.split('\n').map(define);
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_defined_and_nothing_else() {
        let ptx = "\
.extern .func (.param .b32 value) vprintf
.extern .const .align 4 .b8 settings[16];
.extern .global .align 4 .u32 total;
.extern .shared .align 4 .b8 tile[];
.visible .const .align 4 .b8 weights[16];
";
        let expected = ptx
            .replace(".extern .const", ".visible .const")
            .replace(".extern .global", ".visible .global");
        assert_eq!(defined(ptx), expected);
    }
}
