//! Resolution of the parts of a plan, given the numbers and buffers before them.

use std::path::Path;

use toml::Spanned;

use super::{Argument, Buffer, Expected, Launch, ResolvedPlan};
use crate::PlanError;
use crate::comment::Text;
use crate::element::Element;
use crate::expression::{Expression, Value};
use crate::fill::{self, ElementScope};
use crate::plan::{self, Expect, ExpectTable, Number, Size};

/// The maximum size of a buffer. A larger one is most likely a typing error.
const MAX_BUFFER_BYTES: usize = 16 << 30;

/// The context of a plan: its text, the base of its paths, and the random sequence.
pub(super) struct Resolver<'a> {
    pub text: &'a Text<'a>,
    pub directory: &'a Path,
    /// Selects the sequence of random numbers.
    pub sequence: u32,
}

impl Resolver<'_> {
    pub fn error<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> PlanError {
        PlanError {
            line: self.text.line(at.span().start),
            message: message.into(),
        }
    }

    /// Evaluates a non-negative integer.
    fn count(
        &self,
        number: &Spanned<Number>,
        scope: &ResolvedPlan,
        field: &str,
    ) -> Result<usize, PlanError> {
        let value = fill::evaluate(number.get_ref(), scope);
        let value = value.map_err(|reason| self.error(number, format!("{field}: {reason}")))?;
        let integer = match value {
            Value::Integer(value) => usize::try_from(value).ok(),
            Value::Float(_) => None,
        };
        integer.ok_or_else(|| self.error(number, format!("{field} must be a non-negative integer")))
    }

    pub fn buffer(&self, buffer: &plan::Buffer, scope: &ResolvedPlan) -> Result<Buffer, PlanError> {
        let element = Element::named(buffer.element.get_ref())
            .map_err(|reason| self.error(&buffer.element, reason))?;
        let count = self.count(&buffer.count, scope, "count")?;
        if count
            .checked_mul(element.size())
            .is_none_or(|bytes| bytes > MAX_BUFFER_BYTES)
        {
            return Err(self.error(&buffer.count, "a buffer may have at most 16 GiB"));
        }
        let fill = buffer.fill.as_ref();
        let initial = fill::initial_bytes(
            fill.map(Spanned::get_ref),
            element,
            count,
            self.directory,
            scope,
            self.sequence,
        );
        let locate = |reason| match fill {
            Some(fill) => self.error(fill, format!("fill: {reason}")),
            None => self.error(&buffer.name, reason),
        };
        let print = match &buffer.print {
            Some(print) => self.count(print, scope, "print")?,
            None => 0,
        };
        Ok(Buffer {
            name: buffer.name.get_ref().clone(),
            element,
            count,
            symbol: buffer.symbol,
            initial: initial.map_err(locate)?,
            print,
            expected: None,
            tolerance: buffer.tolerance,
            line: self.text.line(buffer.name.span().start),
        })
    }

    /// Computes the expected contents of a buffer from the initial contents of all buffers.
    pub fn expected(
        &self,
        (written, buffer): (&plan::Buffer, &Buffer),
        scope: &ResolvedPlan,
    ) -> Result<Option<Expected>, PlanError> {
        let Some(expect) = &written.expect else {
            return Ok(None);
        };
        let expected = || -> Result<Expected, String> {
            let from_bytes = |bytes: &[u8]| {
                let values = bytes.chunks_exact(buffer.element.size());
                values.map(|bytes| buffer.element.value(bytes)).collect()
            };
            Ok(match expect.get_ref() {
                Expect::Expression(text) => {
                    let expression = Expression::parse(text)?.substitute(scope);
                    let value = |index| {
                        let value = expression.value(&ElementScope {
                            index,
                            values: scope,
                        })?;
                        // Rounded as in memory.
                        Ok(buffer.element.value(&buffer.element.bytes(value)))
                    };
                    Expected {
                        text: text.clone(),
                        values: (0..buffer.count)
                            .map(value)
                            .collect::<Result<_, String>>()?,
                    }
                }
                Expect::Table(ExpectTable::Values(list)) => {
                    let values = fill::evaluate_list(list, scope)?;
                    if values.len() != buffer.count {
                        return Err(format!(
                            "{} values given for {} elements",
                            values.len(),
                            buffer.count
                        ));
                    }
                    Expected {
                        text: "the values".to_owned(),
                        values,
                    }
                }
                Expect::Table(ExpectTable::File(name)) => Expected {
                    text: name.clone(),
                    values: from_bytes(&fill::read_file(
                        &self.directory.join(name),
                        buffer.count * buffer.element.size(),
                    )?),
                },
            })
        };
        let expected =
            expected().map_err(|reason| self.error(expect, format!("expect: {reason}")))?;
        Ok(Some(expected))
    }

    pub fn launch(&self, launch: &plan::Launch, scope: &ResolvedPlan) -> Result<Launch, PlanError> {
        let number = |number: &Option<Spanned<Number>>, field, default| {
            let value = number.as_ref().map(|number| {
                let value = self.count(number, scope, field)?;
                u32::try_from(value)
                    .map_err(|_| self.error(number, format!("{field} is too large")))
            });
            value.unwrap_or(Ok(default))
        };
        let arguments = launch
            .arguments
            .iter()
            .map(|argument| self.argument(argument, scope));
        Ok(Launch {
            kernel: launch.kernel.get_ref().clone(),
            grid: self.size(&launch.grid, scope, "grid")?,
            block: self.size(&launch.block, scope, "block")?,
            shared: number(&launch.shared, "shared", 0)?,
            times: number(&launch.times, "times", 1)?,
            arguments: arguments.collect::<Result<_, _>>()?,
            line: self.text.line(launch.kernel.span().start),
        })
    }

    fn size(
        &self,
        size: &Spanned<Size>,
        scope: &ResolvedPlan,
        field: &str,
    ) -> Result<[u32; 3], PlanError> {
        let scalar;
        let list = match size.get_ref() {
            Size::Scalar(number) => {
                scalar = [number.clone()];
                &scalar[..]
            }
            Size::List(list) => list,
        };
        if list.is_empty() || list.len() > 3 {
            return Err(self.error(
                size,
                format!("{field} takes one to three numbers: x, y and z"),
            ));
        }
        let mut sizes = [1; 3];
        for (slot, number) in sizes.iter_mut().zip(list) {
            let value = fill::evaluate(number, scope);
            let value = value.map_err(|reason| self.error(size, format!("{field}: {reason}")))?;
            let integer = match value {
                Value::Integer(value) => u32::try_from(value).ok().filter(|&value| value > 0),
                Value::Float(_) => None,
            };
            *slot = integer
                .ok_or_else(|| self.error(size, format!("{field} takes positive integers")))?;
        }
        Ok(sizes)
    }

    fn argument(
        &self,
        argument: &Spanned<plan::Argument>,
        scope: &ResolvedPlan,
    ) -> Result<Argument, PlanError> {
        let value = match argument.get_ref() {
            plan::Argument::Integer(value) => Ok(Argument::Number(Value::Integer((*value).into()))),
            plan::Argument::Float(value) => Ok(Argument::Number(Value::Float(*value))),
            plan::Argument::Text(word) => {
                let buffer = scope.buffers.iter().position(|buffer| buffer.name == *word);
                match buffer {
                    Some(number) => Ok(Argument::Buffer(number)),
                    None => Expression::parse(word)
                        .and_then(|word| word.value(scope))
                        .map(Argument::Number),
                }
            }
            plan::Argument::Members(members) => structure(members, scope).map(Argument::Structure),
        };
        value.map_err(|reason| self.error(argument, format!("argument: {reason}")))
    }
}

/// Lays out a structure as in C: each member at a multiple of its size.
fn structure(members: &[plan::Member], scope: &ResolvedPlan) -> Result<Vec<u8>, String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut alignment = 1;
    for member in members {
        let mut entries = member.iter();
        let (Some((element, number)), None) = (entries.next(), entries.next()) else {
            return Err(
                "a structure member must be one type and its value, such as { f32 = 2.5 }"
                    .to_owned(),
            );
        };
        let element = Element::named(element)?;
        alignment = alignment.max(element.size());
        bytes.resize(bytes.len().next_multiple_of(element.size()), 0);
        bytes.extend(element.bytes(fill::evaluate(number, scope)?));
    }
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
    Ok(bytes)
}
