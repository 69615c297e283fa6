//! What each part of a description says, read in the light of the numbers and buffers before it.

use std::path::Path;

use toml::Spanned;

use super::{Argument, Buffer, Expected, Launch, Ready};
use crate::Mistake;
use crate::comment::Text;
use crate::element::Element;
use crate::expression::{Expression, Value};
use crate::fill::{self, At};
use crate::plan::{self, Expect, ExpectTable, Number, Size};

/// More bytes than this in one buffer are a slip of the pen.
const MOST_BYTES: usize = 16 << 30;

/// Where a description stands.
pub(super) struct Reading<'a> {
    pub text: &'a Text<'a>,
    pub folder: &'a Path,
    /// Makes other numbers by chance.
    pub draw: u32,
}

impl Reading<'_> {
    pub fn mistake<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> Mistake {
        Mistake {
            line: self.text.line(at.span().start),
            what: what.into(),
        }
    }

    /// A whole number that is not negative.
    fn count(&self, number: &Spanned<Number>, known: &Ready, what: &str) -> Result<usize, Mistake> {
        let value = fill::number(number.get_ref(), known);
        let value = value.map_err(|why| self.mistake(number, format!("{what}: {why}")))?;
        let whole = match value {
            Value::Whole(value) => usize::try_from(value).ok(),
            Value::Float(_) => None,
        };
        whole.ok_or_else(|| self.mistake(number, format!("{what} is no whole number from 0 on")))
    }

    pub fn buffer(&self, buffer: &plan::Buffer, known: &Ready) -> Result<Buffer, Mistake> {
        let of =
            Element::named(buffer.of.get_ref()).map_err(|why| self.mistake(&buffer.of, why))?;
        let count = self.count(&buffer.count, known, "count")?;
        if count
            .checked_mul(of.size())
            .is_none_or(|bytes| bytes > MOST_BYTES)
        {
            return Err(self.mistake(&buffer.count, "a buffer has at most 16 GiB"));
        }
        let fill = buffer.fill.as_ref();
        let start = fill::bytes(
            fill.map(Spanned::get_ref),
            of,
            count,
            self.folder,
            known,
            self.draw,
        );
        let place = |why| match fill {
            Some(fill) => self.mistake(fill, format!("fill: {why}")),
            None => self.mistake(&buffer.name, why),
        };
        let print = match &buffer.print {
            Some(print) => self.count(print, known, "print")?,
            None => 0,
        };
        Ok(Buffer {
            name: buffer.name.get_ref().clone(),
            of,
            count,
            symbol: buffer.symbol,
            start: start.map_err(place)?,
            print,
            expected: None,
            tolerance: buffer.tolerance,
            line: self.text.line(buffer.name.span().start),
        })
    }

    /// What has to be in a buffer in the end, by what is in all of them at first.
    pub fn expected(
        &self,
        (written, buffer): (&plan::Buffer, &Buffer),
        known: &Ready,
    ) -> Result<Option<Expected>, Mistake> {
        let Some(expect) = &written.expect else {
            return Ok(None);
        };
        let all = || -> Result<Expected, String> {
            let from_bytes = |bytes: &[u8]| {
                let each = bytes.chunks_exact(buffer.of.size());
                each.map(|bytes| buffer.of.value(bytes)).collect()
            };
            Ok(match expect.get_ref() {
                Expect::Expression(text) => {
                    let expression = Expression::read(text)?.with(known);
                    let value = |index| {
                        let value = expression.value(&At {
                            index,
                            values: known,
                        })?;
                        // As it would be in memory.
                        Ok(buffer.of.value(&buffer.of.bytes(value)))
                    };
                    Expected {
                        text: text.clone(),
                        values: (0..buffer.count)
                            .map(value)
                            .collect::<Result<_, String>>()?,
                    }
                }
                Expect::Table(ExpectTable::Values(list)) => {
                    let values = fill::numbers(list, known)?;
                    if values.len() != buffer.count {
                        return Err(format!(
                            "{} values for {} elements",
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
                    values: from_bytes(&fill::read(
                        &self.folder.join(name),
                        buffer.count * buffer.of.size(),
                    )?),
                },
            })
        };
        let all = all().map_err(|why| self.mistake(expect, format!("expect: {why}")))?;
        Ok(Some(all))
    }

    pub fn launch(&self, launch: &plan::Launch, known: &Ready) -> Result<Launch, Mistake> {
        let number = |number: &Option<Spanned<Number>>, what, usual| {
            let value = number.as_ref().map(|number| {
                let value = self.count(number, known, what)?;
                u32::try_from(value)
                    .map_err(|_| self.mistake(number, format!("{what} is too large")))
            });
            value.unwrap_or(Ok(usual))
        };
        let arguments = launch
            .arguments
            .iter()
            .map(|argument| self.argument(argument, known));
        Ok(Launch {
            kernel: launch.kernel.get_ref().clone(),
            grid: self.size(&launch.grid, known, "grid")?,
            block: self.size(&launch.block, known, "block")?,
            shared: number(&launch.shared, "shared", 0)?,
            times: number(&launch.times, "times", 1)?,
            arguments: arguments.collect::<Result<_, _>>()?,
            line: self.text.line(launch.kernel.span().start),
        })
    }

    fn size(&self, size: &Spanned<Size>, known: &Ready, what: &str) -> Result<[u32; 3], Mistake> {
        let one;
        let list = match size.get_ref() {
            Size::One(number) => {
                one = [number.clone()];
                &one[..]
            }
            Size::Some(list) => list,
        };
        if list.is_empty() || list.len() > 3 {
            return Err(self.mistake(
                size,
                format!("{what} is one number, or up to three: x, y and z"),
            ));
        }
        let mut sizes = [1; 3];
        for (to, number) in sizes.iter_mut().zip(list) {
            let value = fill::number(number, known);
            let value = value.map_err(|why| self.mistake(size, format!("{what}: {why}")))?;
            let whole = match value {
                Value::Whole(value) => u32::try_from(value).ok().filter(|&value| value > 0),
                Value::Float(_) => None,
            };
            *to = whole.ok_or_else(|| {
                self.mistake(size, format!("{what} is of whole numbers from 1 on"))
            })?;
        }
        Ok(sizes)
    }

    fn argument(
        &self,
        argument: &Spanned<plan::Argument>,
        known: &Ready,
    ) -> Result<Argument, Mistake> {
        let value = match argument.get_ref() {
            plan::Argument::Whole(value) => Ok(Argument::Number(Value::Whole((*value).into()))),
            plan::Argument::Fraction(value) => Ok(Argument::Number(Value::Float(*value))),
            plan::Argument::Word(word) => {
                let buffer = known.buffers.iter().position(|buffer| buffer.name == *word);
                match buffer {
                    Some(number) => Ok(Argument::Buffer(number)),
                    None => Expression::read(word)
                        .and_then(|word| word.value(known))
                        .map(Argument::Number),
                }
            }
            plan::Argument::Members(members) => structure(members, known).map(Argument::Structure),
        };
        value.map_err(|why| self.mistake(argument, format!("argument: {why}")))
    }
}

/// A structure's bytes: each member at a multiple of its own size, as C has it.
fn structure(members: &[plan::Member], known: &Ready) -> Result<Vec<u8>, String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut widest = 1;
    for member in members {
        let mut entries = member.iter();
        let (Some((of, number)), None) = (entries.next(), entries.next()) else {
            return Err("a member is one type and its value, as { f32 = 2.5 }".to_owned());
        };
        let of = Element::named(of)?;
        widest = widest.max(of.size());
        bytes.resize(bytes.len().next_multiple_of(of.size()), 0);
        bytes.extend(of.bytes(fill::number(number, known)?));
    }
    bytes.resize(bytes.len().next_multiple_of(widest), 0);
    Ok(bytes)
}
