//! The forms of register instructions (mnemonics with modifiers) that a kernel may have: the simulator's catalogue
//! without the forms that NVIDIA's assembler rejects, each with the compute capability that it needs. Also the
//! table of the forms that a series of kernels covers.

use crate::generate;
use crate::values::Dice;
use cuda_sim::lower::{InstructionForm, catalogue};
use cuda_sim::ptx::ast::Type;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A form and its oldest target.
pub struct TargetedForm {
    pub form: InstructionForm,
    /// The oldest of [`TARGETS`] that supports the form, as ten times the compute capability.
    pub target: u32,
}

/// The targets of the generated modules.
pub const TARGETS: [u32; 4] = [52, 70, 80, 90];

/// The forms, by how their results are compared.
pub struct Forms {
    /// Forms with exact results.
    pub exact: FormList,
    /// Forms with approximate results.
    pub approximate: FormList,
    /// Forms that read or write the carry flag.
    pub carry: FormList,
}

/// A list of forms, with an index of those that each target supports.
#[derive(Default)]
pub struct FormList {
    pub all: Vec<TargetedForm>,
    /// Indices into `all` for each of [`TARGETS`]: those of all forms, and those of each mnemonic.
    fits: [(Vec<usize>, Vec<Vec<usize>>); TARGETS.len()],
}

impl FormList {
    fn new(all: Vec<TargetedForm>) -> FormList {
        let fits = TARGETS.map(|target| {
            let all_indices: Vec<usize> = (0..all.len())
                .filter(|&index| all[index].target <= target)
                .collect();
            let by_mnemonic = all_indices
                .chunk_by(|&a, &b| all[a].form.mnemonic == all[b].form.mnemonic)
                .map(<[usize]>::to_vec)
                .collect();
            (all_indices, by_mnemonic)
        });
        FormList { all, fits }
    }

    /// Picks a form that the target supports. Half of the time all forms are equally likely, otherwise all
    /// mnemonics, so that mnemonics with few forms are not rare.
    pub fn pick(&self, dice: &mut Dice, target: u32) -> &InstructionForm {
        let number = TARGETS.iter().position(|&candidate| candidate == target);
        let (all_indices, by_mnemonic) = &self.fits[number.unwrap_or(0)];
        let candidates = if dice.chance(50) {
            all_indices
        } else {
            &by_mnemonic[dice.below(by_mnemonic.len())]
        };
        &self.all[candidates[dice.below(candidates.len())]].form
    }
}

impl Forms {
    /// Collects all forms that both the simulator and NVIDIA's assembler support.
    pub fn new() -> Forms {
        let (mut exact, mut approximate, mut carry) = (Vec::new(), Vec::new(), Vec::new());
        for form in catalogue() {
            if exclusion_reason(&form).is_some() {
                continue;
            }
            let list = if form.carries {
                &mut carry
            } else if is_approximate(&form) {
                &mut approximate
            } else {
                &mut exact
            };
            let target = min_target(&form);
            list.push(TargetedForm { form, target });
        }
        Forms {
            exact: FormList::new(exact),
            approximate: FormList::new(approximate),
            carry: FormList::new(carry),
        }
    }
}

impl Default for Forms {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the form as written in PTX, for example `add.rn.f32`.
pub fn form_name(form: &InstructionForm) -> String {
    format!("{}.{}", form.mnemonic, form.modifiers.join("."))
}

/// Returns true if the form's result is only an approximation of the exact one.
pub fn is_approximate(form: &InstructionForm) -> bool {
    let has = |name| form.modifiers.contains(&name);
    has("approx") || has("full")
}

/// Returns the reason that a form of the catalogue is not generated, or `None` if it is.
pub fn exclusion_reason(form: &InstructionForm) -> Option<&'static str> {
    let has = |name| form.modifiers.contains(&name);
    let (to, from) = (form.defs[0], form.uses[0]);
    let bfloat = has("bf16") || has("bf16x2");
    let integer_rounding = ["rni", "rzi", "rmi", "rpi"].into_iter().any(has);
    let halves = matches!(from, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2);
    let one = matches!(to, Type::F32 | Type::F16 | Type::BF16);
    if form.mnemonic == "set" && one && !halves {
        // Happens only in larger kernels: with a division in the module, or a loop.
        return Some("NVIDIA's assembler returns an integer 1 instead of 1.0");
    }
    if form.carries && has("hi") && from.is_signed() {
        return Some("its carry depends on the optimization level of NVIDIA's assembler");
    }
    if form.mnemonic == "mov" && [to, from].contains(&Type::B8) {
        return Some("the generator has no registers of 8 bits");
    }
    if has("f32x2") || form.uses.len() == 3 && matches!(form.mnemonic, "min" | "max") {
        return Some("it requires compute capability 10.0");
    }
    let refused = match form.mnemonic {
        "cvt" if has("tf32") => form.modifiers != ["rna", "tf32", "f32"],
        "cvt" if has("relu") => {
            has("sat")
                || has("ftz")
                || from != Type::F32
                || has("rm")
                || has("rp")
                || integer_rounding
        }
        "cvt" if has("f16x2") || has("bf16x2") => integer_rounding,
        "cvt" if bfloat => has("sat") || has("u8") || has("s8"),
        "cvt" if has("sat") && !to.is_float() && !from.is_float() => contains_range(to, from),
        "fma" => has("sat") && has("relu"),
        "mov" => to.is_float() && to.bytes() < 8 && to != Type::F32,
        "set" => to == Type::F32 && (has("f16") || has("bf16")),
        "setp" => form.defs.len() == 2 && (has("f16") || has("bf16")),
        _ => false,
    };
    refused.then_some("NVIDIA's assembler rejects it")
}

/// Returns true if an integer type has all values of another, so that saturation has no effect.
fn contains_range(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (false, true) => false,
        (true, false) => to.bytes() > from.bytes(),
        _ => to.bytes() >= from.bytes(),
    }
}

/// Returns the oldest of [`TARGETS`] that supports the form, as ten times the compute capability.
fn min_target(form: &InstructionForm) -> u32 {
    let has = |name| form.modifiers.contains(&name);
    let half = has("f16") || has("f16x2");
    let extremum = matches!(form.mnemonic, "min" | "max");
    if has("u16x2") || has("s16x2") {
        return 90;
    }
    if has("bf16") || has("bf16x2") {
        let early = match form.mnemonic {
            "abs" | "neg" | "fma" => true,
            "min" | "max" => !has("xorsign"),
            "cvt" => form.uses[0] == Type::F32 || form.modifiers == ["f32", "bf16"],
            _ => false,
        };
        return if early { 80 } else { 90 };
    }
    if extremum && (has("xorsign") || has("relu")) {
        return 90;
    }
    match form.mnemonic {
        "bmsk" | "szext" | "dp4a" | "dp2a" => 70,
        "tanh" | "cvt.pack" => 80,
        "ex2" if half => 80,
        "cvt" if has("relu") || has("tf32") || has("f16x2") => 80,
        "cvt" => 52,
        "fma" if has("relu") => 80,
        "min" | "max" if half || has("NaN") => 80,
        _ if half => 70,
        _ => 52,
    }
}

/// Returns the instructions of PTX text, as written but without guards and operands: `ld.global.v2.u32`. A pair
/// of destinations is shown as `setp.lt.u32 p|q`, and the vectors of a `mov` as `mov.b64 2:1`.
pub fn forms_in(ptx: &str) -> BTreeSet<String> {
    ptx.lines().filter_map(form_of_line).collect()
}

fn form_of_line(line: &str) -> Option<String> {
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

/// Returns a Markdown table: for each instruction the number of its forms that are generated, the number of
/// kernels with it, and the number of its forms that are left out.
pub fn markdown(seed: u64, kernels: std::ops::Range<u64>) -> String {
    let all = Forms::new();
    // The forms of each instruction, and the number of kernels with any of them.
    let mut generated: BTreeMap<String, (BTreeSet<String>, u64)> = BTreeMap::new();
    for number in kernels.clone() {
        let text = generate::kernel(&all, seed, number).ptx(&BTreeSet::new());
        let mut mnemonics = BTreeSet::new();
        for form in forms_in(&text) {
            let mnemonic = mnemonic(&form);
            generated
                .entry(mnemonic.clone())
                .or_default()
                .0
                .insert(form);
            mnemonics.insert(mnemonic);
        }
        for mnemonic in mnemonics {
            generated.entry(mnemonic).or_default().1 += 1;
        }
    }
    let mut excluded: BTreeMap<&str, u64> = BTreeMap::new();
    for form in catalogue() {
        if exclusion_reason(&form).is_some() {
            *excluded.entry(form.mnemonic).or_default() += 1;
        }
    }
    let mut text =
        "| instruction | forms | kernels with it | forms left out |\n| --- | --: | --: | --: |\n"
            .to_owned();
    let mut totals = (0, 0);
    for (mnemonic, (forms, kernels)) in &generated {
        let excluded_count = excluded.get(mnemonic.as_str()).copied().unwrap_or(0);
        totals = (totals.0 + forms.len(), totals.1 + excluded_count);
        let excluded_count = if excluded_count == 0 {
            String::new()
        } else {
            excluded_count.to_string()
        };
        let _ = writeln!(
            text,
            "| `{mnemonic}` | {} | {kernels} | {excluded_count} |",
            forms.len()
        );
    }
    let _ = writeln!(
        text,
        "| all | {} | {} | {} |",
        totals.0,
        kernels.end - kernels.start,
        totals.1
    );
    text
}

/// Returns the table row that a form belongs to. `cp` has a row for each kind, for example `cp.async`.
fn mnemonic(form: &str) -> String {
    let mut parts = form.split(['.', ' ']);
    let first = parts.next().unwrap_or_default();
    match (first, parts.next()) {
        ("cp", Some(second)) => format!("{first}.{second}"),
        _ => first.to_owned(),
    }
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
        let actual: Vec<String> = forms_in(text).into_iter().collect();
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
