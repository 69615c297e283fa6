//! A description with all names looked up and all sizes known.

mod reading;

use std::collections::BTreeMap;
use std::path::Path;

use crate::Mistake;
use crate::comment::Text;
use crate::element::Element;
use crate::expression::{Expression, Value, Values};
use crate::fill;
use crate::plan::{Plan, Tolerance};
use reading::Reading;

/// All that is needed to launch, print and compare.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    /// Numbers by name, those that were given included.
    pub numbers: BTreeMap<String, Value>,
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

/// Numbers and buffers by name, those with what is in them at first.
impl Values for Ready {
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
        for (name, _) in set {
            if !plan.numbers.contains_key(name) {
                let what = format!("--set {name}: the description has no number {name}");
                return Err(Mistake { line: 0, what });
            }
        }
        let reading = Reading {
            text,
            folder,
            draw: 0,
        };
        let ready = Ready::of(&plan, &reading, Ready::default(), set)?;
        match ready.launches.is_empty() {
            false => Ok(ready),
            true => Err(Mistake {
                line: text.lines_before + 1,
                what: "the description has no [[launch]]".to_owned(),
            }),
        }
    }

    /// A description that is a part of a file, `text`, which is read already. `given` are numbers that it may
    /// name beside its own, and another `draw` makes other numbers by chance. It may have no launch.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and in which of the file's lines.
    pub fn within(
        plan: &Plan,
        text: &str,
        folder: &Path,
        given: &[(&str, u32)],
        draw: u32,
    ) -> Result<Ready, Mistake> {
        let text = &Text {
            text,
            lines_before: 0,
        };
        let mut known = Ready::default();
        for &(name, value) in given {
            if let Some(own) = plan.numbers.get(name) {
                let what =
                    format!("the number {name} is the size's own: give this one another name");
                let line = text.line(own.span().start);
                return Err(Mistake { line, what });
            }
            known
                .numbers
                .insert(name.to_owned(), Value::Whole(value.into()));
        }
        let reading = Reading { text, folder, draw };
        Ready::of(plan, &reading, known, &[])
    }

    fn of(
        plan: &Plan,
        reading: &Reading,
        mut known: Ready,
        set: &[(String, String)],
    ) -> Result<Ready, Mistake> {
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
        known.launches = launches.collect::<Result<_, _>>()?;
        Ok(known)
    }
}

#[cfg(test)]
mod tests;
