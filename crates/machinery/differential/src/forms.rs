//! Which forms of register instructions a kernel may have: the simulator's own list, without what
//! NVIDIA's assembler does not take, by the compute capability that each needs.

use crate::dice::Dice;
use cuda_sim::lower::{Known, catalogue};
use cuda_sim::ptx::ast::Type;

/// A form and where it may stand.
pub struct Form {
    pub known: Known,
    /// The compute capability, times ten, of the oldest of [`TARGETS`] that has it.
    pub target: u32,
}

/// What modules are made for.
pub const TARGETS: [u32; 4] = [52, 70, 80, 90];

/// The forms, by what is done with them.
pub struct Forms {
    /// Ordinary ones.
    pub exact: List,
    /// Those whose answers are only near the exact ones.
    pub approximate: List,
    /// Those that read or write the carry.
    pub carrying: List,
}

/// Forms, and what modules for each target may have of them.
#[derive(Default)]
pub struct List {
    pub all: Vec<Form>,
    /// Places in `all`, for each of [`TARGETS`]: of every form, and of those of each mnemonic.
    fits: [(Vec<usize>, Vec<Vec<usize>>); TARGETS.len()],
}

impl List {
    fn of(all: Vec<Form>) -> List {
        let fits = TARGETS.map(|target| {
            let every: Vec<usize> = (0..all.len())
                .filter(|&place| all[place].target <= target)
                .collect();
            let by_mnemonic = every
                .chunk_by(|&a, &b| all[a].known.mnemonic == all[b].known.mnemonic)
                .map(<[usize]>::to_vec)
                .collect();
            (every, by_mnemonic)
        });
        List { all, fits }
    }

    /// A form that this target has: any with the same chance, or any of one mnemonic, so that those
    /// with few forms are not rare.
    pub fn pick(&self, dice: &mut Dice, target: u32) -> &Known {
        let number = TARGETS.iter().position(|&known| known == target);
        let (every, by_mnemonic) = &self.fits[number.unwrap_or(0)];
        let among = if dice.chance(50) {
            every
        } else {
            &by_mnemonic[dice.below(by_mnemonic.len())]
        };
        &self.all[among[dice.below(among.len())]].known
    }
}

impl Forms {
    /// All of the simulator's forms that the assembler has too.
    pub fn new() -> Forms {
        let (mut exact, mut approximate, mut carrying) = (Vec::new(), Vec::new(), Vec::new());
        for known in catalogue() {
            if left_out(&known).is_some() {
                continue;
            }
            let list = if known.carries {
                &mut carrying
            } else if is_approximate(&known) {
                &mut approximate
            } else {
                &mut exact
            };
            let target = needs(&known);
            list.push(Form { known, target });
        }
        Forms {
            exact: List::of(exact),
            approximate: List::of(approximate),
            carrying: List::of(carrying),
        }
    }
}

impl Default for Forms {
    fn default() -> Self {
        Self::new()
    }
}

/// `add.rn.f32`
pub fn written(known: &Known) -> String {
    format!("{}.{}", known.mnemonic, known.modifiers.join("."))
}

/// Whether its answers are only near the exact ones.
pub fn is_approximate(known: &Known) -> bool {
    let has = |name| known.modifiers.contains(&name);
    has("approx") || has("full")
}

/// Why a form of the simulator's is not generated; None where it is.
pub fn left_out(known: &Known) -> Option<&'static str> {
    let has = |name| known.modifiers.contains(&name);
    let (to, from) = (known.defs[0], known.uses[0]);
    let bfloat = has("bf16") || has("bf16x2");
    let integer_rounding = ["rni", "rzi", "rmi", "rpi"].into_iter().any(has);
    let halves = matches!(from, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2);
    let one = matches!(to, Type::F32 | Type::F16 | Type::BF16);
    if known.mnemonic == "set" && one && !halves {
        // In larger kernels only: with a division in the module, or a loop.
        return Some("NVIDIA's assembler makes it an integer 1 instead of 1.0");
    }
    if known.carries && has("hi") && from.is_signed() {
        return Some("its carry depends on the level that NVIDIA's assembler works at");
    }
    if has("f32x2") || known.uses.len() == 3 && matches!(known.mnemonic, "min" | "max") {
        return Some("GPUs have it from compute capability 10.0 on");
    }
    let refused = match known.mnemonic {
        "cvt" if has("tf32") => known.modifiers != ["rna", "tf32", "f32"],
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
        "cvt" if has("sat") && !to.is_float() && !from.is_float() => holds(to, from),
        "fma" => has("sat") && has("relu"),
        "mov" => to.is_float() && to.bytes() < 8 && to != Type::F32,
        "set" => to == Type::F32 && (has("f16") || has("bf16")),
        "setp" => known.defs.len() == 2 && (has("f16") || has("bf16")),
        _ => false,
    };
    refused.then_some("NVIDIA's assembler does not take it")
}

/// Whether an integer type has all values of another, so that nothing is to be saturated.
fn holds(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (false, true) => false,
        (true, false) => to.bytes() > from.bytes(),
        _ => to.bytes() >= from.bytes(),
    }
}

/// The compute capability, times ten, of the oldest of [`TARGETS`] that has this form.
fn needs(known: &Known) -> u32 {
    let has = |name| known.modifiers.contains(&name);
    let half = has("f16") || has("f16x2");
    let extremum = matches!(known.mnemonic, "min" | "max");
    if has("u16x2") || has("s16x2") {
        return 90;
    }
    if has("bf16") || has("bf16x2") {
        let early = match known.mnemonic {
            "abs" | "neg" | "fma" => true,
            "min" | "max" => !has("xorsign"),
            "cvt" => known.uses[0] == Type::F32 || known.modifiers == ["f32", "bf16"],
            _ => false,
        };
        return if early { 80 } else { 90 };
    }
    if extremum && (has("xorsign") || has("relu")) {
        return 90;
    }
    match known.mnemonic {
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
