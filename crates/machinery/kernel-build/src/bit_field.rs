//! A fault in the code that older clangs make (14 does, 19 does not), mended in their PTX.
//!
//! `x < 0 ? 7 : 0` is an arithmetic shift by 63 and the mask 7 to LLVM. These clangs write it as `bfe.u64 x, 63, 3`,
//! which takes two bits from beyond the number. There `bfe.u` gives zeros (PTX ISA, section bfe), and the shift
//! the sign: the result would be 1.

use std::borrow::Cow;

/// What the compiler puts around a programmer's own instructions, which mean what they say.
const ASM_BEGINS: &str = "// begin inline asm";
const ASM_ENDS: &str = "// end inline asm";

/// The PTX with a shift and a mask in place of each bit field that ends beyond its number.
pub fn mend_bit_fields(ptx: &str) -> Cow<'_, str> {
    let mut own = false;
    let mut mended: Option<String> = None;
    let mut begin = 0;
    for line in ptx.split_inclusive('\n') {
        let here = begin;
        begin += line.len();
        match line.trim() {
            ASM_BEGINS => own = true,
            ASM_ENDS => own = false,
            _ => {}
        }
        match beyond(line).filter(|_| !own) {
            Some(instead) => *mended.get_or_insert_with(|| ptx[..here].to_owned()) += &instead,
            None => mended.iter_mut().for_each(|text| *text += line),
        }
    }
    mended.map_or(Cow::Borrowed(ptx), Cow::Owned)
}

/// What to write for an extract of unsigned bits that ends beyond its number.
fn beyond(line: &str) -> Option<String> {
    let words = line.trim().strip_prefix("bfe.u")?.strip_suffix(';')?;
    let (bits, operands) = words.split_once(char::is_whitespace)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let [to, from, first, length] = operands[..] else {
        return None;
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (width, first, length) = (number(bits)?, number(first)?, number(length)?);
    if first >= width || length >= width || first + length <= width {
        return None;
    }
    let mask = (1_u64 << length) - 1;
    Some(format!(
        "\tshr.s{width} \t{to}, {from}, {first};\n\tand.b{width} \t{to}, {to}, {mask};\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_number_are_its_sign() {
        let ptx = "\tshl.b64 \t%rd8, %rd7, 1;\n\tbfe.u64 \t%rd9, %rd7, 63, 3;\n\tret;\n";
        let mended = "\tshl.b64 \t%rd8, %rd7, 1;\n\tshr.s64 \t%rd9, %rd7, 63;\n\
                      \tand.b64 \t%rd9, %rd9, 7;\n\tret;\n";
        assert_eq!(mend_bit_fields(ptx), mended);
        let ptx = "\tbfe.u32 \t%r2, %r1, 28, 16;";
        let mended = "\tshr.s32 \t%r2, %r1, 28;\n\tand.b32 \t%r2, %r2, 65535;\n";
        assert_eq!(mend_bit_fields(ptx), mended);
    }

    #[test]
    fn others_stay() {
        for ptx in [
            "\tbfe.u64 \t%rd9, %rd7, 61, 3;\n",
            "\tbfe.u32 \t%r2, %r1, %r3, 8;\n",
            "\tbfe.s64 \t%rd9, %rd7, 63, 3;\n",
            "\t// begin inline asm\n\tbfe.u32 %r2, %r1, 31, 3;\n\t// end inline asm\n",
        ] {
            assert!(matches!(mend_bit_fields(ptx), Cow::Borrowed(same) if same == ptx));
        }
    }
}
