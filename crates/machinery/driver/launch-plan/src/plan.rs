//! The launch plan as it is written: its TOML or JSON, and its place in a kernel's file.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::PlanError;

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
    /// Draws only multiples of this number; by default any number, or for integer elements any integer.
    pub step: Option<f64>,
    /// The smallest and the largest exponent of a power of two that multiplies all numbers. The exponent is the same for
    /// all buffers of the plan with this range.
    pub exponents: Option<[i8; 2]>,
    /// One in this many numbers on average is a power of two from 2⁸⁰ to 2¹¹⁶, the same in the whole plan and negative in
    /// half of the plans; by default none.
    pub huge: Option<NonZero<u32>>,
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

/// The start of the plan's comment.
const COMMENT_START: &str = "/* cuda-run";
const COMMENT_END: &str = "*/";

/// The text of a plan, and the number of lines before it in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    pub text: &'a str,
    pub lines_before: usize,
}

impl Text<'_> {
    /// Returns the line in the file of a byte offset in the text.
    pub fn line(&self, offset: usize) -> usize {
        let prefix = self.text.get(..offset).unwrap_or(self.text);
        self.lines_before + prefix.matches('\n').count() + 1
    }
}

/// Finds the plan in a comment of a kernel's file. Returns `None` if there is none.
///
/// # Errors
///
/// Fails if the comment is not closed.
pub fn find(file: &str) -> Result<Option<Text<'_>>, PlanError> {
    let is_start = |(at, _): &(usize, &str)| {
        let line_prefix = file[..*at].rsplit('\n').next();
        let rest = &file[at + COMMENT_START.len()..];
        line_prefix.is_some_and(|prefix| prefix.trim().is_empty())
            && rest.starts_with(|next: char| next.is_whitespace())
    };
    let Some((at, _)) = file.match_indices(COMMENT_START).find(is_start) else {
        return Ok(None);
    };
    let lines_before = file[..at].matches('\n').count();
    let rest = &file[at + COMMENT_START.len()..];
    let Some(end) = rest.find(COMMENT_END) else {
        return Err(PlanError {
            line: lines_before + 1,
            message: "the comment with the launch plan is not closed (missing */)".to_owned(),
        });
    };
    Ok(Some(Text {
        text: &rest[..end],
        lines_before,
    }))
}

/// Converts a plan in JSON to the same plan in TOML, which a [`Plan`] is read from.
///
/// # Errors
///
/// Fails if the text is not JSON, with the line of the error.
pub fn json_to_toml(text: &str) -> Result<String, PlanError> {
    let plan: BTreeMap<String, InlineToml> =
        serde_json::from_str(text).map_err(|error| PlanError {
            line: error.line(),
            message: error.to_string(),
        })?;
    let entries = plan.iter();
    Ok(entries
        .map(|(key, value)| format!("{} = {}\n", quoted(key), value.0))
        .collect())
}

/// A value of JSON, written in TOML on one line. Numbers, strings and arrays are written alike, and tables keep
/// their order.
struct InlineToml(String);

impl<'de> Deserialize<'de> for InlineToml {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(InlineVisitor).map(InlineToml)
    }
}

struct InlineVisitor;

impl<'de> Visitor<'de> for InlineVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value other than null")
    }

    fn visit_bool<E>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E>(self, value: f64) -> Result<String, E> {
        Ok(format!("{value:?}"))
    }

    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(quoted(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<String, A::Error> {
        let mut list = Vec::new();
        while let Some(InlineToml(value)) = values.next_element()? {
            list.push(value);
        }
        Ok(format!("[{}]", list.join(", ")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<String, A::Error> {
        let mut list = Vec::new();
        while let Some((key, InlineToml(value))) = entries.next_entry::<String, _>()? {
            list.push(format!("{} = {value}", quoted(&key)));
        }
        Ok(format!("{{ {} }}", list.join(", ")))
    }
}

/// Writes a string of JSON or TOML, whose escapes are the same.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_starting_with_cuda_run_holds_the_plan() {
        let file = "// one\n/* cuda-run\nn = 1\nm = 2 */\nint x;\n";
        let plan_text = find(file).unwrap().unwrap();
        assert_eq!(plan_text.text, "\nn = 1\nm = 2 ");
        assert_eq!(plan_text.line(1), 3);
        assert_eq!(plan_text.line(8), 4);
    }

    #[test]
    fn other_comments_are_ignored() {
        for file in [
            "",
            "// /* cuda-run\n",
            "/* cuda-running */",
            "/* see cuda-run */",
        ] {
            assert_eq!(find(file).unwrap(), None, "{file}");
        }
        let error = find("\n/* cuda-run\nn = 1\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the comment with the launch plan is not closed (missing */)"
        );
    }
}
