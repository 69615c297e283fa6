//! The launch plan as it is written in TOML.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A launch plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Named numbers for use in expressions. A number may refer to those defined before it.
    #[serde(default)]
    pub numbers: BTreeMap<String, Spanned<Number>>,
    #[serde(default)]
    pub buffer: Vec<Buffer>,
    #[serde(default)]
    pub launch: Vec<Launch>,
}

/// A number or an expression.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Integer(i64),
    Float(f64),
    Expression(String),
}

/// A buffer in device memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    pub name: Spanned<String>,
    /// The element type: `f32`, or its C name `float`.
    #[serde(rename = "type")]
    pub element: Spanned<String>,
    /// Number of elements.
    pub count: Spanned<Number>,
    /// True if the buffer is the variable of this name in the kernel's file, `__constant__` or `__device__`.
    #[serde(default)]
    pub symbol: bool,
    /// The contents before the first launch; zeros by default.
    pub fill: Option<Spanned<Fill>>,
    /// Number of elements to print after the last launch.
    pub print: Option<Spanned<Number>>,
    /// The expected contents after the last launch.
    pub expect: Option<Spanned<Expect>>,
    /// The accepted difference from the expected contents.
    pub tolerance: Option<Tolerance>,
}

/// The initial contents of a buffer.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Fill {
    /// One number for every element.
    Integer(i64),
    Float(f64),
    /// `zeros`, `iota`, `none`, or an expression of the element's index `i`.
    Text(String),
    Table(FillTable),
}

/// Initial contents that need parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum FillTable {
    /// Pseudo-random numbers, the same in every run.
    Random(Random),
    /// A list of values, repeated to the end of the buffer.
    Values(Vec<Number>),
    /// The bytes of a file.
    File(String),
}

/// Uniformly distributed numbers from `from` up to but excluding `to`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    #[serde(default)]
    pub seed: u32,
    pub from: Option<f64>,
    pub to: Option<f64>,
    /// True to draw only integers, even for floating-point elements.
    #[serde(default)]
    pub whole: bool,
}

/// The expected contents of a buffer.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Expect {
    /// An expression of `i` and of the buffers' initial contents.
    Expression(String),
    Table(ExpectTable),
}

/// Expected contents that are listed or read from a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ExpectTable {
    Values(Vec<Number>),
    File(String),
}

/// The accepted difference of a result: it passes if it meets either bound.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    #[serde(default)]
    pub absolute: f64,
    /// The difference relative to the expected value.
    #[serde(default)]
    pub relative: f64,
}

/// One number, or up to three for x, y and z.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Size {
    Scalar(Number),
    List(Vec<Number>),
}

/// A kernel launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The kernel's name in the source.
    pub kernel: Spanned<String>,
    /// Number of blocks.
    pub grid: Spanned<Size>,
    /// Threads per block.
    pub block: Spanned<Size>,
    /// Bytes of dynamic shared memory per block.
    pub shared: Option<Spanned<Number>>,
    #[serde(default)]
    pub arguments: Vec<Spanned<Argument>>,
    /// Number of consecutive launches.
    pub times: Option<Spanned<Number>>,
}

/// A kernel argument.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    Integer(i64),
    Float(f64),
    /// The name of a buffer, whose address is passed, or an expression.
    Text(String),
    /// A structure, as a list of its members.
    Members(Vec<Member>),
}

/// A member of a structure: its type and value, such as `{ f32 = 2.5 }`.
pub type Member = BTreeMap<String, Number>;
