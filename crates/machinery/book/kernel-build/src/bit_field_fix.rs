//! A workaround for a code generation bug of older clang versions (14 has it, 19 does not), applied to their
//! PTX.
//!
//! LLVM represents `x < 0 ? 7 : 0` as an arithmetic shift by 63 and the mask 7. These versions emit it as
//! `bfe.u64 x, 63, 3`, which extracts two bits from beyond the register. `bfe.u` yields zeros there (PTX ISA,
//! section bfe), whereas the shift yields the sign, so that the result would be 1.

use std::borrow::Cow;

/// Comments that enclose inline assembly, whose instructions are intended as written.
const ASM_START: &str = "// begin inline asm";
const ASM_END: &str = "// end inline asm";

/// Replaces each bit field extract that reaches beyond its register by a shift and a mask.
pub fn fix_bit_fields(ptx: &str) -> Cow<'_, str> {
    let mut in_inline_asm = false;
    let mut fixed: Option<String> = None;
    let mut next_start = 0;
    for line in ptx.split_inclusive('\n') {
        let line_start = next_start;
        next_start += line.len();
        match line.trim() {
            ASM_START => in_inline_asm = true,
            ASM_END => in_inline_asm = false,
            _ => {}
        }
        match replacement(line).filter(|_| !in_inline_asm) {
            Some(replacement_text) => {
                *fixed.get_or_insert_with(|| ptx[..line_start].to_owned()) += &replacement_text
            }
            None => fixed.iter_mut().for_each(|text| *text += line),
        }
    }
    fixed.map_or(Cow::Borrowed(ptx), Cow::Owned)
}

/// Returns the replacement if the line is an unsigned extract that reaches beyond its register.
fn replacement(line: &str) -> Option<String> {
    let arguments = line.trim().strip_prefix("bfe.u")?.strip_suffix(';')?;
    let (bits, operands) = arguments.split_once(char::is_whitespace)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let [destination, source, position, length] = operands[..] else {
        return None;
    };
    let parse = |text: &str| text.parse::<u32>().ok();
    let (width, position, length) = (parse(bits)?, parse(position)?, parse(length)?);
    if position >= width || length >= width || position + length <= width {
        return None;
    }
    let mask = (1_u64 << length) - 1;
    Some(format!(
        "\tshr.s{width} \t{destination}, {source}, {position};\n\tand.b{width} \t{destination}, {destination}, {mask};\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_register_are_the_sign() {
        let ptx = "\tshl.b64 \t%rd8, %rd7, 1;\n\tbfe.u64 \t%rd9, %rd7, 63, 3;\n\tret;\n";
        let fixed = "\tshl.b64 \t%rd8, %rd7, 1;\n\tshr.s64 \t%rd9, %rd7, 63;\n\
                      \tand.b64 \t%rd9, %rd9, 7;\n\tret;\n";
        assert_eq!(fix_bit_fields(ptx), fixed);
        let ptx = "\tbfe.u32 \t%r2, %r1, 28, 16;";
        let fixed = "\tshr.s32 \t%r2, %r1, 28;\n\tand.b32 \t%r2, %r2, 65535;\n";
        assert_eq!(fix_bit_fields(ptx), fixed);
    }

    #[test]
    fn other_instructions_are_unchanged() {
        for ptx in [
            "\tbfe.u64 \t%rd9, %rd7, 61, 3;\n",
            "\tbfe.u32 \t%r2, %r1, %r3, 8;\n",
            "\tbfe.s64 \t%rd9, %rd7, 63, 3;\n",
            "\t// begin inline asm\n\tbfe.u32 %r2, %r1, 31, 3;\n\t// end inline asm\n",
        ] {
            assert!(matches!(fix_bit_fields(ptx), Cow::Borrowed(unchanged) if unchanged == ptx));
        }
    }
}
