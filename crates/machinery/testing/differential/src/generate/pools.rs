//! Register pools, one for each kind of value, so that chains of single-precision sums do not fill up with
//! NaNs that are the bits of integers. Values cross between pools only occasionally.

use super::Generator;
use crate::values::Kind;
use cuda_sim::ptx::ast::Type;

/// The number of registers of each kind, and of predicates.
#[derive(Clone)]
pub struct Pools {
    counts: [usize; Kind::ALL.len()],
    predicates: usize,
}

impl Pools {
    pub fn kernel() -> Pools {
        Pools {
            counts: [5, 5, 8, 8, 4, 6, 6],
            predicates: 6,
        }
    }

    pub fn function() -> Pools {
        Pools {
            counts: [4, 4, 4, 4, 4, 4, 4],
            predicates: 3,
        }
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    pub fn predicates(&self) -> usize {
        self.predicates
    }
}

/// Returns the prefix of a kind's registers: `%r`, `%f`, …
pub fn prefix(kind: Kind) -> &'static str {
    match kind {
        Kind::Int16 => "%h",
        Kind::Half => "%g",
        Kind::Int32 => "%r",
        Kind::Single => "%f",
        Kind::Halves => "%x",
        Kind::Int64 => "%l",
        Kind::Double => "%e",
    }
}

/// Returns the width in bytes of a kind's registers.
pub fn bytes(kind: Kind) -> u32 {
    match kind {
        Kind::Int16 | Kind::Half => 2,
        Kind::Int32 | Kind::Single | Kind::Halves => 4,
        Kind::Int64 | Kind::Double => 8,
    }
}

/// Returns the kind of value that a type usually holds.
pub fn kind_of(ty: Type) -> Kind {
    match ty {
        Type::F16 | Type::BF16 => Kind::Half,
        Type::F16x2 | Type::BF16x2 => Kind::Halves,
        Type::F32 => Kind::Single,
        Type::F64 => Kind::Double,
        _ => match ty.bytes() {
            8 => Kind::Int64,
            4 => Kind::Int32,
            _ => Kind::Int16,
        },
    }
}

impl Generator<'_> {
    /// Picks a register of `width` bytes for a value of the type.
    pub fn register(&mut self, ty: Type, width: u32) -> String {
        if ty == Type::Pred {
            return self.predicate();
        }
        let natural = kind_of(ty);
        let fits: Vec<Kind> = Kind::ALL
            .into_iter()
            .filter(|&kind| bytes(kind) == width)
            .collect();
        let kind = if bytes(natural) == width && self.dice.chance(88) {
            natural
        } else {
            fits[self.dice.below(fits.len())]
        };
        self.register_of_kind(kind)
    }

    pub fn register_of_kind(&mut self, kind: Kind) -> String {
        let number = self.dice.below(self.pools.count(kind));
        format!("{}{number}", prefix(kind))
    }

    /// Picks distinct registers of `width` bytes, because a vector must not write a register twice.
    pub fn distinct_registers(&mut self, ty: Type, width: u32, count: usize) -> Vec<String> {
        let natural = kind_of(ty);
        let kind = if bytes(natural) == width && self.pools.count(natural) >= count {
            natural
        } else {
            match width {
                2 => Kind::Int16,
                4 => Kind::Int32,
                _ => Kind::Int64,
            }
        };
        let numbers = self.dice.sample(count, self.pools.count(kind));
        numbers
            .into_iter()
            .map(|number| format!("{}{number}", prefix(kind)))
            .collect()
    }

    pub fn predicate(&mut self) -> String {
        format!("%p{}", self.dice.below(self.pools.predicates()))
    }

    /// Returns `%p` or `!%p`.
    pub fn maybe_negated_predicate(&mut self) -> String {
        let not = if self.dice.chance(30) { "!" } else { "" };
        format!("{not}{}", self.predicate())
    }

    /// Returns `@%p ` occasionally, otherwise an empty string.
    pub fn guard(&mut self) -> String {
        if self.dice.chance(10) {
            format!("@{} ", self.maybe_negated_predicate())
        } else {
            String::new()
        }
    }
}
