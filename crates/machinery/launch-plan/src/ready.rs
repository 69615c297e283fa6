//! A description with all names looked up and all sizes known.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use crate::Mistake;
use crate::comment::Text;
use crate::element::Element;
use crate::expression::{Expression, Value, Values};
use crate::fill::{self, At};
use crate::plan::{self, Expect, ExpectTable, Number, Plan, Size, Tolerance};

/// More bytes than this in one buffer are a slip of the pen.
const MOST_BYTES: usize = 16 << 30;

/// All that is needed to launch, print and compare.
#[derive(Clone, Debug)]
pub struct Ready {
    pub buffers: Vec<Buffer>,
    pub launches: Vec<Launch>,
}

/// Memory on the device.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub of: Element,
    pub count: usize,
    /// It is a variable of the kernel's file.
    pub symbol: bool,
    /// What is in it at first; none where nothing is written.
    pub start: Option<Vec<u8>>,
    /// How many elements are shown at the end.
    pub print: usize,
    pub expected: Option<Expected>,
    pub tolerance: Option<Tolerance>,
    /// Its line in the file.
    pub line: usize,
}

/// What has to be in a buffer at the end.
#[derive(Clone, Debug)]
pub struct Expected {
    /// As the description says it.
    pub text: String,
    pub values: Vec<Value>,
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub times: u32,
    pub arguments: Vec<Argument>,
    /// Its line in the file.
    pub line: usize,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The address of the buffer of this number.
    Buffer(usize),
    Number(Value),
    /// The bytes of a structure.
    Structure(Vec<u8>),
}

/// Numbers and buffers by name.
#[derive(Default)]
struct Known {
    numbers: BTreeMap<String, Value>,
    buffers: Vec<Buffer>,
}

impl Values for Known {
    fn number(&self, name: &str) -> Option<Value> {
        self.numbers.get(name).copied()
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        let buffer = self.buffers.iter().find(|known| known.name == buffer)?;
        let missing = || {
            format!(
                "{} has {} elements, and none is number {index}",
                buffer.name, buffer.count
            )
        };
        let element = || {
            let from = usize::try_from(index).ok()?.checked_mul(buffer.of.size())?;
            let bytes = buffer.start.as_ref()?;
            Some(buffer.of.value(bytes.get(from..from + buffer.of.size())?))
        };
        Some(element().ok_or_else(missing))
    }
}

impl Ready {
    /// Reads a description. `set` has numbers that are others than it says, and `folder` the files that it
    /// names.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and in which line.
    pub fn read(text: &Text, folder: &Path, set: &[(String, String)]) -> Result<Ready, Mistake> {
        let plan: Plan = toml::from_str(text.text).map_err(|error| Mistake {
            line: error.span().map_or(0, |span| text.line(span.start)),
            what: error.message().to_owned(),
        })?;
        let of_no_line = |what: String| Mistake { line: 0, what };
        let mut known = Known::default();
        for (name, _) in set {
            if !plan.numbers.contains_key(name) {
                return Err(of_no_line(format!(
                    "--set {name}: the description has no number {name}"
                )));
            }
        }
        let reading = Reading { text, folder };
        let mut numbers: Vec<_> = plan.numbers.iter().collect();
        numbers.sort_by_key(|(_, value)| value.span().start);
        for (name, value) in numbers {
            let given = set.iter().rev().find(|(known, _)| known == name);
            let number = match given {
                Some((_, value)) => Expression::read(value).and_then(|value| value.value(&known)),
                None => fill::number(value.get_ref(), &known),
            };
            let number = number
                .map_err(|why| reading.mistake(value, format!("the number {name}: {why}")))?;
            known.numbers.insert(name.clone(), number);
        }
        for buffer in &plan.buffer {
            let buffer = reading.buffer(buffer, &known)?;
            if known.buffers.iter().any(|other| other.name == buffer.name) {
                let what = format!("there are two buffers {}", buffer.name);
                return Err(Mistake {
                    line: buffer.line,
                    what,
                });
            }
            known.buffers.push(buffer);
        }
        let expected: Result<Vec<_>, Mistake> = plan
            .buffer
            .iter()
            .zip(&known.buffers)
            .map(|it| reading.expected(it, &known))
            .collect();
        for (buffer, expected) in known.buffers.iter_mut().zip(expected?) {
            buffer.expected = expected;
        }
        let launches = plan
            .launch
            .iter()
            .map(|launch| reading.launch(launch, &known));
        let launches: Vec<Launch> = launches.collect::<Result<_, _>>()?;
        if launches.is_empty() {
            return Err(Mistake {
                line: text.lines_before + 1,
                what: "the description has no [[launch]]".to_owned(),
            });
        }
        Ok(Ready {
            buffers: known.buffers,
            launches,
        })
    }
}

/// Where a description stands.
struct Reading<'a> {
    text: &'a Text<'a>,
    folder: &'a Path,
}

impl Reading<'_> {
    fn mistake<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> Mistake {
        Mistake {
            line: self.text.line(at.span().start),
            what: what.into(),
        }
    }

    /// A whole number that is not negative.
    fn count(&self, number: &Spanned<Number>, known: &Known, what: &str) -> Result<usize, Mistake> {
        let value = fill::number(number.get_ref(), known);
        let value = value.map_err(|why| self.mistake(number, format!("{what}: {why}")))?;
        let whole = match value {
            Value::Whole(value) => usize::try_from(value).ok(),
            Value::Float(_) => None,
        };
        whole.ok_or_else(|| self.mistake(number, format!("{what} is no whole number from 0 on")))
    }

    fn buffer(&self, buffer: &plan::Buffer, known: &Known) -> Result<Buffer, Mistake> {
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
        let start = fill::bytes(fill.map(Spanned::get_ref), of, count, self.folder, known);
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
    fn expected(
        &self,
        (written, buffer): (&plan::Buffer, &Buffer),
        known: &Known,
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
                    let expression = Expression::read(text)?;
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

    fn launch(&self, launch: &plan::Launch, known: &Known) -> Result<Launch, Mistake> {
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

    fn size(&self, size: &Spanned<Size>, known: &Known, what: &str) -> Result<[u32; 3], Mistake> {
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
        known: &Known,
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
fn structure(members: &[plan::Member], known: &Known) -> Result<Vec<u8>, String> {
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

#[cfg(test)]
mod tests;
