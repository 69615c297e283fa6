//! The description as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A description.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Numbers with names, for expressions: of those before it, where it is one itself.
    #[serde(default)]
    pub numbers: BTreeMap<String, Spanned<Number>>,
    #[serde(default)]
    pub buffer: Vec<Buffer>,
    #[serde(default)]
    pub launch: Vec<Launch>,
}

/// A number, or an expression of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Whole(i64),
    Fraction(f64),
    Expression(String),
}

/// Memory on the device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    pub name: Spanned<String>,
    /// `f32`, or as C has it: `float`.
    #[serde(rename = "type")]
    pub of: Spanned<String>,
    /// How many elements.
    pub count: Spanned<Number>,
    /// It is the kernel file's own variable of this name, `__constant__` or `__device__`.
    #[serde(default)]
    pub symbol: bool,
    /// What is in it before the first launch: zeros where nothing is said.
    pub fill: Option<Spanned<Fill>>,
    /// How many elements to print at the end.
    pub print: Option<Spanned<Number>>,
    /// What has to be in it at the end.
    pub expect: Option<Spanned<Expect>>,
    /// By how much it may differ.
    pub tolerance: Option<Tolerance>,
}

/// What is in a buffer at first.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Fill {
    /// The same number everywhere.
    Whole(i64),
    Fraction(f64),
    /// `zeros`, `iota`, `none`, or an expression of `i`, the element's number.
    Word(String),
    Table(FillTable),
}

/// What takes more words.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum FillTable {
    /// Numbers that look like drawn by chance, the same each time.
    Random(Random),
    /// These, again and again.
    Values(Vec<Number>),
    /// The bytes of a file.
    File(String),
}

/// Numbers from `from` to below `to`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    #[serde(default)]
    pub seed: u32,
    pub from: Option<f64>,
    pub to: Option<f64>,
    /// Whole numbers only, also where the elements have a fraction.
    #[serde(default)]
    pub whole: bool,
}

/// What has to be in a buffer at the end.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Expect {
    /// By an expression of `i` and of buffers as they were filled.
    Expression(String),
    Table(ExpectTable),
}

/// What takes more words.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ExpectTable {
    Values(Vec<Number>),
    File(String),
}

/// By how much a result may differ: by either of the two.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    #[serde(default)]
    pub absolute: f64,
    /// As a part of the expected value.
    #[serde(default)]
    pub relative: f64,
}

/// One number, or up to three: x, y and z.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Size {
    One(Number),
    Some(Vec<Number>),
}

/// A launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The kernel's name in the source.
    pub kernel: Spanned<String>,
    /// Blocks.
    pub grid: Spanned<Size>,
    /// Threads a block.
    pub block: Spanned<Size>,
    /// Bytes of dynamic shared memory a block.
    pub shared: Option<Spanned<Number>>,
    #[serde(default)]
    pub arguments: Vec<Spanned<Argument>>,
    /// How often it is launched, one after the other.
    pub times: Option<Spanned<Number>>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    Whole(i64),
    Fraction(f64),
    /// A buffer's name, for its address; or an expression.
    Word(String),
    /// A structure: its members one after the other.
    Members(Vec<Member>),
}

/// A member of a structure, by its type: `{ f32 = 2.5 }`.
pub type Member = BTreeMap<String, Number>;
