//! Element types and their representation in memory.

use crate::expression::Value;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// Names of the types: Rust's first, then C's.
const NAMES: [(Element, &[&str]); 10] = [
    (Element::U8, &["u8", "unsigned char", "uint8_t", "bool"]),
    (Element::I8, &["i8", "char", "signed char", "int8_t"]),
    (Element::U16, &["u16", "unsigned short", "uint16_t"]),
    (Element::I16, &["i16", "short", "int16_t"]),
    (
        Element::U32,
        &["u32", "unsigned", "unsigned int", "uint", "uint32_t"],
    ),
    (Element::I32, &["i32", "int", "int32_t"]),
    (
        Element::U64,
        &[
            "u64",
            "unsigned long",
            "unsigned long long",
            "uint64_t",
            "size_t",
        ],
    ),
    (Element::I64, &["i64", "long", "long long", "int64_t"]),
    (Element::F32, &["f32", "float"]),
    (Element::F64, &["f64", "double"]),
];

impl Element {
    /// Returns the type with this name.
    ///
    /// # Errors
    ///
    /// Fails if the name is unknown, with the known names.
    pub fn named(name: &str) -> Result<Element, String> {
        let mut types = NAMES.iter();
        let entry = types.find(|(_, names)| names.contains(&name));
        entry.map(|(element, _)| *element).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
            format!(
                "unknown type {name}; known types: {}, and their C names",
                names.join(", ")
            )
        })
    }

    /// Returns the size in bytes.
    pub fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Returns true for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// Converts a number to bytes. As in C, integers are truncated to the size, and fractions are dropped.
    pub fn bytes(self, value: Value) -> Vec<u8> {
        match self {
            Element::F32 => (value.to_float() as f32).to_le_bytes().into(),
            Element::F64 => value.to_float().to_le_bytes().into(),
            _ => value.to_integer().to_le_bytes()[..self.size()].into(),
        }
    }

    /// Converts bytes, as many as [`Self::size`], to a number.
    pub fn value(self, bytes: &[u8]) -> Value {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(padded);
        match self {
            Element::F32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Element::F64 => Value::Float(f64::from_bits(bits)),
            Element::I8 => Value::Integer((bits as i8).into()),
            Element::I16 => Value::Integer((bits as i16).into()),
            Element::I32 => Value::Integer((bits as i32).into()),
            Element::I64 => Value::Integer((bits as i64).into()),
            _ => Value::Integer(bits.into()),
        }
    }

    /// Formats a number with the fewest digits that round-trip.
    pub fn text(self, value: Value) -> String {
        match (self, value) {
            (Element::F32, value) => (value.to_float() as f32).to_string(),
            (_, Value::Float(value)) => value.to_string(),
            (_, Value::Integer(value)) => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_through_bytes() {
        for (name, value) in [
            ("u8", Value::Integer(255)),
            ("char", Value::Integer(-1)),
            ("short", Value::Integer(-300)),
            ("unsigned int", Value::Integer(4_000_000_000)),
            ("int", Value::Integer(-5)),
            ("u64", Value::Integer(u64::MAX.into())),
            ("i64", Value::Integer(i64::MIN.into())),
            ("float", Value::Float(0.25)),
            ("double", Value::Float(0.1)),
        ] {
            let element = Element::named(name).unwrap();
            let bytes = element.bytes(value);
            assert_eq!(bytes.len(), element.size(), "{name}");
            assert_eq!(element.value(&bytes), value, "{name}");
        }
        assert_eq!(Element::U8.bytes(Value::Float(3.9)), [3]);
        assert_eq!(Element::F32.text(Value::Float(f64::from(0.1_f32))), "0.1");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let reason = Element::named("flaot").unwrap_err();
        assert!(
            reason.contains("unknown type flaot") && reason.contains("f32"),
            "{reason}"
        );
    }
}
