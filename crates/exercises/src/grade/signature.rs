//! Compares a kernel's parameters with those of the start file, with which it is launched. The launch itself
//! cannot detect a difference: it passes a list without a length, and a kernel with more parameters reads
//! past its end.

use super::{Failure, FailureKind, Stop};
use crate::data::{Step, Text};

/// A kernel of the start file.
#[derive(Debug, PartialEq, Eq)]
struct Kernel<'a> {
    name: &'a str,
    /// The parameters as they are written.
    parameters: Vec<String>,
}

/// Fails if a kernel's parameters differ from those that it is launched with.
pub fn verdict(start: &str, ptx: &str) -> Result<(), Stop> {
    let start = without_comments(start);
    for kernel in kernels(&start) {
        let Some(takes) = takes(ptx, kernel.name) else {
            continue;
        };
        let name = kernel.name;
        let given = kernel.parameters.len();
        let other = kernel
            .parameters
            .iter()
            .map(|parameter| bytes(parameter))
            .zip(&takes)
            .position(|(given, takes)| given.is_some_and(|given| given != *takes));
        let what = if takes.len() != given {
            Text::both(|lang| {
                say!(
                    lang,
                    "`{}` takes {} parameters and is launched with {}.",
                    "`{}` 有 {} 个参数，而启动时给出 {} 个。";
                    name, takes.len(), given
                )
            })
        } else if let Some(place) = other {
            Text::both(|lang| {
                say!(
                    lang,
                    "Parameter {1} of `{0}` has {2} bytes, and is launched with {3}.",
                    "`{0}` 的第 {1} 个参数占 {2} 字节，而启动时给出 {3} 字节。";
                    name, place + 1, takes[place], bytes(&kernel.parameters[place]).unwrap_or(0)
                )
            })
        } else {
            continue;
        };
        let written = format!("    {name}({})", kernel.parameters.join(", "));
        let message = Text::both(|lang| {
            say!(
                lang,
                "{} The launch is the course's own and does not change; keep the kernel as the start file declares \
                 it:\n\n{}",
                "{}启动代码由课程提供，不会改变；请保持核函数与初始文件中的声明一致：\n\n{}";
                what.of(lang), written
            )
        });
        let failure = Failure::at(Step::Launch, message);
        return Err(Stop::Failed(failure.of_kind(FailureKind::Parameters)));
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
        let parameters = parameters.split(',').map(|it| {
            let words: Vec<&str> = it.split_whitespace().collect();
            words.join(" ")
        });
        let parameters = parameters.filter(|it| !it.is_empty() && it != "void");
        Some(Kernel {
            name,
            parameters: parameters.collect(),
        })
    })
}

/// Returns the size of a parameter in bytes; `None` for types that the file defines.
fn bytes(parameter: &str) -> Option<u32> {
    if parameter.contains('*') {
        return Some(8);
    }
    let words = parameter.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
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

/// Returns the sizes of a kernel's parameters in PTX; `None` if there is no such kernel.
fn takes(ptx: &str, name: &str) -> Option<Vec<u32>> {
    let mut entries = ptx.split(".entry ").skip(1);
    let entry = entries.find_map(|entry| {
        let rest = entry.strip_prefix(name)?;
        rest.trim_start().strip_prefix('(')
    })?;
    let (list, _) = entry.split_once(')')?;
    let parameters = list.split(',').filter(|it| it.contains(".param"));
    let bytes = |parameter: &str| {
        let mut words = parameter.split_whitespace();
        let size = words.find_map(|word| {
            let word = word.strip_prefix('.')?;
            let kind = word.strip_prefix(['u', 's', 'f', 'b'])?;
            kind.parse::<u32>().ok()
        })?;
        let array = words.next().and_then(|name| name.split_once('['));
        let many = array.and_then(|(_, many)| many.strip_suffix(']')?.parse::<u32>().ok());
        Some(size / 8 * many.unwrap_or(1))
    };
    parameters.map(bytes).collect()
}

/// Removes the comments from a text.
fn without_comments(text: &str) -> String {
    let mut left = text;
    let mut kept = String::new();
    loop {
        let (line, block) = (left.find("//"), left.find("/*"));
        let (at, end) = match (line, block) {
            (Some(line), block) if block.is_none_or(|block| line < block) => (line, "\n"),
            (_, Some(block)) => (block, "*/"),
            _ => break,
        };
        kept.push_str(&left[..at]);
        kept.push('\n');
        let comment = &left[at + 2..];
        left = comment
            .find(end)
            .map_or("", |length| &comment[length + end.len()..]);
    }
    kept + left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::EXERCISES;
    use crate::exercise::Side;

    const START: &str = "// __global__ void no(int a)\nextern \"C\" __global__ void fade(float *samples, float gain,\n    \
                         /* one, two */ const Volume v) {\n}\n__global__ void none() {}\n";

    #[test]
    fn kernels_are_read_off_a_start_file() {
        let text = without_comments(START);
        let found: Vec<Kernel> = kernels(&text).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name, "fade");
        assert_eq!(
            found[0].parameters,
            ["float *samples", "float gain", "const Volume v"]
        );
        assert_eq!((found[1].name, found[1].parameters.len()), ("none", 0));
        let sizes: Vec<Option<u32>> = found[0].parameters.iter().map(|it| bytes(it)).collect();
        assert_eq!(sizes, [Some(8), Some(4), None]);
        assert_eq!(bytes("unsigned int n"), Some(4));
        assert_eq!(bytes("size_t pitch"), Some(8));
    }

    #[test]
    fn parameters_are_read_off_ptx() {
        let ptx = ".visible .entry fade2(\n\t.param .u64 a\n)\n.visible .entry fade(\n\t.param .u64 fade_param_0,\n\
                   \t.param .f32 fade_param_1,\n\t.param .align 8 .b8 fade_param_2[32]\n)\n{\n}\n\
                   .visible .entry none()\n";
        assert_eq!(takes(ptx, "fade"), Some(vec![8, 4, 32]));
        assert_eq!(takes(ptx, "none"), Some(vec![]));
        assert_eq!(takes(ptx, "missing"), None);
        assert!(verdict(START, ptx).is_ok());
        let more = ptx.replace("[32]\n", "[32],\n\t.param .u32 fade_param_3\n");
        let Err(Stop::Failed(failure)) = verdict(START, &more) else {
            panic!("it takes four");
        };
        let said = "`fade` takes 4 parameters and is launched with 3.";
        assert!(failure.message.en.starts_with(said), "{failure:?}");
        let wider = ptx.replace(".f32", ".f64");
        let Err(Stop::Failed(failure)) = verdict(START, &wider) else {
            panic!("it takes a double");
        };
        let said = "`fade` 的第 2 个参数占 8 字节，而启动时给出 4 字节。";
        assert!(failure.message.zh.starts_with(said), "{failure:?}");
    }

    #[test]
    fn every_start_file_has_kernels_that_can_be_read() {
        for exercise in EXERCISES.iter() {
            if let Side::Kernel(_) = exercise.side {
                let text = without_comments(exercise.start);
                let found: Vec<Kernel> = kernels(&text).collect();
                // Prediction exercises may have none.
                let has_some = text.contains("__global__");
                assert_eq!(!found.is_empty(), has_some, "{}", exercise.name);
                let named = |kernel: &Kernel| {
                    let is_name = |c: char| c.is_alphanumeric() || c == '_';
                    !kernel.parameters.is_empty() && kernel.name.chars().all(is_name)
                };
                assert!(found.iter().all(named), "{}: {found:?}", exercise.name);
            }
        }
    }
}
