//! Extraction of instruction forms (mnemonics with modifiers) from PTX text, for the table of the forms that
//! the random kernels cover.

use std::collections::BTreeSet;

/// Returns the instructions of a text, as written but without guards and operands: `ld.global.v2.u32`. A pair
/// of destinations is shown as `setp.lt.u32 p|q`, and the vectors of a `mov` as `mov.b64 2:1`.
pub fn forms(ptx: &str) -> BTreeSet<String> {
    ptx.lines().filter_map(form).collect()
}

fn form(line: &str) -> Option<String> {
    let line = line.trim();
    let line = match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ')?.1,
        None => line,
    };
    let (name, operands) = line
        .split_once(' ')
        .unwrap_or((line.strip_suffix(';')?, ""));
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    let length = |text: &str| text.matches(',').count() + 1;
    if name.starts_with("mov.") && operands.contains('{') {
        let (vector, is_first) = match operands.strip_prefix('{') {
            Some(rest) => (rest.split_once('}')?.0, true),
            None => (operands.split_once('{')?.1.split_once('}')?.0, false),
        };
        let count = length(vector);
        return Some(if is_first {
            format!("{name} {count}:1")
        } else {
            format!("{name} 1:{count}")
        });
    }
    let first = operands.split(',').next().unwrap_or_default();
    Some(if name.starts_with("setp.") && first.contains('|') {
        format!("{name} p|q")
    } else {
        name.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_and_operands_do_not_count() {
        let text = "
            .reg .b32 %r<4>;
            @!%p1 add.u32 %r1, %r2, 3;
            add.u32 %r2, %r2, 4;
            setp.lt.s32 %p1|%p2, %r1, %r2;
            mov.b64 {%r1, %r2}, %l1;
            mov.b64 %l1, {%h0, %h1, %h2, %h3};
            LABEL:
            ret;";
        let actual: Vec<String> = forms(text).into_iter().collect();
        assert_eq!(
            actual,
            [
                "add.u32",
                "mov.b64 1:4",
                "mov.b64 2:1",
                "ret",
                "setp.lt.s32 p|q"
            ]
        );
    }
}
