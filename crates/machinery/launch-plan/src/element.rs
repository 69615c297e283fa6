//! Numbers in memory, by type.

use crate::expression::Value;

/// The type of a number in memory.
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

/// Names, Rust's first and then C's.
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
    /// The type of this name.
    ///
    /// # Errors
    ///
    /// Which names there are.
    pub fn named(name: &str) -> Result<Element, String> {
        let mut all = NAMES.iter();
        let found = all.find(|(_, names)| names.contains(&name));
        found.map(|(element, _)| *element).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
            format!(
                "there is no type {name}; there are {}, and C's names of them",
                names.join(", ")
            )
        })
    }

    /// How many bytes it has.
    pub fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Whether it has a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// A number's bytes; a whole number is cut to its size as C does, one with a fraction loses it.
    pub fn bytes(self, value: Value) -> Vec<u8> {
        match self {
            Element::F32 => (value.float() as f32).to_le_bytes().into(),
            Element::F64 => value.float().to_le_bytes().into(),
            _ => value.whole().to_le_bytes()[..self.size()].into(),
        }
    }

    /// The number that these bytes are, as many as [`Self::size`].
    pub fn value(self, bytes: &[u8]) -> Value {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Element::F32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Element::F64 => Value::Float(f64::from_bits(bits)),
            Element::I8 => Value::Whole((bits as i8).into()),
            Element::I16 => Value::Whole((bits as i16).into()),
            Element::I32 => Value::Whole((bits as i32).into()),
            Element::I64 => Value::Whole((bits as i64).into()),
            _ => Value::Whole(bits.into()),
        }
    }

    /// A number as it is printed, as short as it is read back.
    pub fn text(self, value: Value) -> String {
        match (self, value) {
            (Element::F32, value) => (value.float() as f32).to_string(),
            (_, Value::Float(value)) => value.to_string(),
            (_, Value::Whole(value)) => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_bytes() {
        for (name, value) in [
            ("u8", Value::Whole(255)),
            ("char", Value::Whole(-1)),
            ("short", Value::Whole(-300)),
            ("unsigned int", Value::Whole(4_000_000_000)),
            ("int", Value::Whole(-5)),
            ("u64", Value::Whole(u64::MAX.into())),
            ("i64", Value::Whole(i64::MIN.into())),
            ("float", Value::Float(0.25)),
            ("double", Value::Float(0.1)),
        ] {
            let of = Element::named(name).unwrap();
            let bytes = of.bytes(value);
            assert_eq!(bytes.len(), of.size(), "{name}");
            assert_eq!(of.value(&bytes), value, "{name}");
        }
        assert_eq!(Element::U8.bytes(Value::Float(3.9)), [3]);
        assert_eq!(Element::F32.text(Value::Float(f64::from(0.1_f32))), "0.1");
    }

    #[test]
    fn another_name_is_told_those_there_are() {
        let why = Element::named("flaot").unwrap_err();
        assert!(
            why.contains("no type flaot") && why.contains("f32"),
            "{why}"
        );
    }
}
