//! Enums whose variants are the sentences of messages.

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
