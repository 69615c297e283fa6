//! Checks that variables are in constant memory. Counters are not enough, because accesses to a variable in
//! another memory space can leave the same counts; the PTX states the space of each variable.

use super::{Failure, Stop};
use crate::data::{Data, Step};
use crate::host::Case;
use crate::lang::Text;

/// Fails if a variable that the exercise names is not in constant memory.
pub fn verdict(data: &Data, ptx: &str, case: &Case) -> Result<(), Stop> {
    let mut names = data.constants.iter();
    let Some(name) = names.find(|name| !is_constant(ptx, name)) else {
        return Ok(());
    };
    Err(Stop::Failed(Failure {
        step: Step::Counters,
        kind: None,
        size: case.size.clone(),
        message: Text::from_fn(|lang| {
            localize!(
                lang,
                "The results are correct, but the variable `{0}` is not in constant memory, as \
                 this exercise requires: declare it as `__constant__ … {0}`, outside of all \
                 functions.",
                "结果正确，但变量 `{0}` 不在常量内存中，不符合本题的要求：请在所有函数之外声明 \
                 `__constant__ … {0}`。";
                name
            )
        }),
    }))
}

/// Returns true if the PTX declares a constant variable of this name: `.visible .const .align 4 .b8 name[16];`.
fn is_constant(ptx: &str, name: &str) -> bool {
    let mut constants = ptx.lines().filter(|line| {
        let mut words = line.split_whitespace();
        words.any(|word| word == ".const")
    });
    constants.any(|line| {
        let declared = line.split('=').next().unwrap_or(line);
        let mut words =
            declared.split(|character: char| character.is_whitespace() || "[;".contains(character));
        words.any(|word| word == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_distinguished_from_other_variables() {
        let ptx = "\
.visible .const .align 4 .b8 weights[128];
.const .align 4 .u32 gain = 3;
.visible .global .align 4 .b8 table[16];
.const .align 8 .u64 places[1] = {table};
ld.const.f32 %f1, [level];
";
        assert!(is_constant(ptx, "weights") && is_constant(ptx, "gain"));
        for name in ["table", "weight", "level"] {
            assert!(!is_constant(ptx, name), "{name}");
        }
    }
}
