//! Compares a kernel's parameters with those of the start file, with which it is launched. The launch itself
//! cannot detect a difference: it passes a list without a length, and a kernel with more parameters reads
//! past its end.

use chapter::lang::Text;
use cuda_driver::ptx::{self, ast::Variable};

use super::{Failure, FailureKind, Stop};
use crate::data::Step;

/// A kernel of the start file.
#[derive(Debug, PartialEq, Eq)]
struct Kernel<'a> {
    name: &'a str,
    /// The parameters as they are written.
    parameters: Vec<String>,
}

/// Fails if a kernel's parameters differ from those that it is launched with.
pub fn verdict(start: &str, ptx: &str) -> Result<(), Stop> {
    let start = strip_comments(start);
    for kernel in kernels(&start) {
        let Some(actual_sizes) = ptx_parameter_sizes(ptx, kernel.name) else {
            continue;
        };
        let name = kernel.name;
        let expected_count = kernel.parameters.len();
        let mismatch = kernel
            .parameters
            .iter()
            .map(|parameter| parameter_size(parameter))
            .zip(&actual_sizes)
            .position(|(expected, actual)| expected.is_some_and(|expected| expected != *actual));
        let difference = if actual_sizes.len() != expected_count {
            text!(
                "`{}` has {} parameters but is launched with {}.",
                "`{}` 有 {} 个参数，而启动时给出 {} 个。";
                name, actual_sizes.len(), expected_count
            )
        } else if let Some(index) = mismatch {
            text!(
                "Parameter {1} of `{0}` has {2} bytes but is launched with {3}.",
                "`{0}` 的第 {1} 个参数占 {2} 字节，而启动时给出 {3} 字节。";
                name, index + 1, actual_sizes[index], parameter_size(&kernel.parameters[index]).unwrap_or(0)
            )
        } else {
            continue;
        };
        let declaration = format!("    {name}({})", kernel.parameters.join(", "));
        let message = Text::from_fn(|lang| {
            localize!(
                lang,
                "{} The course provides the launch; keep the kernel's declaration as in the start \
                 file:\n\n{}",
                "{}启动代码由课程提供；核函数的声明请与初始文件保持一致：\n\n{}";
                difference.get(lang), declaration
            )
        });
        let failure = Failure::at_step(Step::Launch, message);
        return Err(Stop::Failed(failure.with_kind(FailureKind::Parameters)));
    }
    Ok(())
}

/// Finds the kernels declared in a text without comments.
fn kernels(text: &str) -> impl Iterator<Item = Kernel<'_>> {
    let pieces = text.split("__global__").skip(1);
    pieces.filter_map(|piece| {
        let (head, rest) = piece.split_once('(')?;
        let (parameters, _) = rest.split_once(')')?;
        let name = head.split_whitespace().last()?;
        let parameters = parameters.split(',').map(|parameter| {
            let words: Vec<&str> = parameter.split_whitespace().collect();
            words.join(" ")
        });
        let parameters =
            parameters.filter(|parameter| !parameter.is_empty() && parameter != "void");
        Some(Kernel {
            name,
            parameters: parameters.collect(),
        })
    })
}

/// Returns the size of a parameter in bytes; `None` for types that the file defines.
fn parameter_size(parameter: &str) -> Option<u64> {
    if parameter.contains('*') {
        return Some(8);
    }
    let words = parameter.split(|character: char| !character.is_alphanumeric() && character != '_');
    let words: Vec<&str> = words
        .filter(|word| !matches!(*word, "" | "const" | "__restrict__" | "volatile"))
        .collect();
    match words[..] {
        ["float" | "int" | "unsigned", _] | ["unsigned", "int", _] => Some(4),
        ["size_t" | "double", _] => Some(8),
        ["long", "long", _] | ["unsigned", "long", "long", _] => Some(8),
        _ => None,
    }
}

/// Returns the sizes of a kernel's parameters in bytes; `None` if the PTX has no such kernel.
fn ptx_parameter_sizes(ptx: &str, name: &str) -> Option<Vec<u64>> {
    let module = ptx::parse(ptx).ok()?;
    let mut kernels = module.functions.iter().filter(|function| function.entry);
    let kernel = kernels.find(|kernel| kernel.name == name)?;
    kernel.params.iter().map(Variable::bytes).collect()
}

/// Removes the comments from a text.
fn strip_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    loop {
        let (line, block) = (rest.find("//"), rest.find("/*"));
        let (at, end) = match (line, block) {
            (Some(line), block) if block.is_none_or(|block| line < block) => (line, "\n"),
            (_, Some(block)) => (block, "*/"),
            _ => break,
        };
        code.push_str(&rest[..at]);
        code.push('\n');
        let comment = &rest[at + 2..];
        rest = comment
            .find(end)
            .map_or("", |length| &comment[length + end.len()..]);
    }
    code + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::{Course, Side};

    const START: &str = "// __global__ void no(int a)\nextern \"C\" __global__ void fade(float *samples, float gain,\n    \
                         /* one, two */ const Volume v) {\n}\n__global__ void none() {}\n";

    #[test]
    fn kernels_of_a_start_file_are_found() {
        let text = strip_comments(START);
        let parsed: Vec<Kernel> = kernels(&text).collect();
        assert_eq!(parsed.len(), 2);
        assert_eq!(parsed[0].name, "fade");
        assert_eq!(
            parsed[0].parameters,
            ["float *samples", "float gain", "const Volume v"]
        );
        assert_eq!((parsed[1].name, parsed[1].parameters.len()), ("none", 0));
        let sizes: Vec<Option<u64>> = parsed[0]
            .parameters
            .iter()
            .map(|parameter| parameter_size(parameter))
            .collect();
        assert_eq!(sizes, [Some(8), Some(4), None]);
        assert_eq!(parameter_size("unsigned int n"), Some(4));
        assert_eq!(parameter_size("size_t pitch"), Some(8));
    }

    #[test]
    fn parameter_sizes_are_found_in_ptx() {
        let ptx = ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry fade2(\n\t.param .u64 a\n) {}\n// .entry fade(.param .u64 x)\n.visible .entry fade(\n\t.param .u64 fade_param_0,\n\
                   \t.param .f32 fade_param_1,\n\t.param .align 8 .b8 fade_param_2[32]\n)\n{\n}\n\
                   .visible .entry none() {}\n";
        assert_eq!(ptx_parameter_sizes(ptx, "fade"), Some(vec![8, 4, 32]));
        assert_eq!(ptx_parameter_sizes(ptx, "none"), Some(vec![]));
        assert_eq!(ptx_parameter_sizes(ptx, "missing"), None);
        assert!(verdict(START, ptx).is_ok());
        let more = ptx.replace("[32]\n", "[32],\n\t.param .u32 fade_param_3\n");
        let Err(Stop::Failed(failure)) = verdict(START, &more) else {
            panic!("it takes four");
        };
        let expected = "`fade` has 4 parameters but is launched with 3.";
        assert!(failure.message.en.starts_with(expected), "{failure:?}");
        let wider = ptx.replace(".f32", ".f64");
        let Err(Stop::Failed(failure)) = verdict(START, &wider) else {
            panic!("it takes a double");
        };
        let expected = "`fade` 的第 2 个参数占 8 字节，而启动时给出 4 字节。";
        assert!(failure.message.zh.starts_with(expected), "{failure:?}");
    }

    #[test]
    fn the_kernels_of_every_start_file_are_found() {
        for exercise in &Course::built_in().unwrap().exercises {
            if let Side::Kernel(_) = exercise.side() {
                let text = strip_comments(exercise.start());
                let parsed: Vec<Kernel> = kernels(&text).collect();
                // Prediction exercises may have none.
                let has_some = text.contains("__global__");
                assert_eq!(!parsed.is_empty(), has_some, "{}", exercise.name());
                let named = |kernel: &Kernel| {
                    let is_name = |c: char| c.is_alphanumeric() || c == '_';
                    !kernel.parameters.is_empty() && kernel.name.chars().all(is_name)
                };
                assert!(parsed.iter().all(named), "{}: {parsed:?}", exercise.name());
            }
        }
    }
}
