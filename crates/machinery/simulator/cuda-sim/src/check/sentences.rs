//! Enums whose variants are the sentences of messages.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A number of bytes, formatted as `1 byte` or `4 bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 byte"),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// Defines enums with an English sentence per variant, which [`Display`](std::fmt::Display) writes:
/// `Past(distance: Bytes) => "{distance} past the end";`. The sentence may be followed by arguments.
macro_rules! sentences {
    ($($(#[$enum_meta:meta])* pub enum $name:ident {
        $($(#[$meta:meta])* $variant:ident $({ $($field:ident: $type:ty),* })? $(($($value:ident: $value_type:ty),*))?
            => $text:literal $(, $argument:expr)*;)*
    })*) => {$(
        $(#[$enum_meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$meta])* $variant $({ $($field: $type),* })? $(($($value_type),*))?),*
        }

        impl $name {
            /// Returns the variant's name in records, for example `missing-barrier`.
            pub fn kind(&self) -> String {
                match self {
                    $($name::$variant { .. } => $crate::check::sentences::record_name(stringify!($variant)),)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$variant $({ $($field),* })? $(($($value),*))? => write!(f, $text $(, $argument)*),)*
                }
            }
        }
    )*};
}

pub(super) use sentences;

/// Converts the name of a variant to its name in records: `MissingBarrier` to `missing-barrier`.
pub fn record_name(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
