//! The plan with all names resolved and all sizes evaluated.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Spanned;

use crate::PlanError;
use crate::contents::{Element, Surroundings, evaluate, evaluate_list, initial_bytes, read_file};
use crate::expression::{Binding, Expression, Value, Values};
use crate::plan::{self as written, Expect, ExpectTable, Number, Plan, Size, Text, Tolerance};

/// A launch plan, ready for execution.
#[derive(Clone, Debug, Default)]
pub struct ResolvedPlan {
    /// The file that errors name, if the plan is that of a file.
    pub file: Option<PathBuf>,
    /// Numbers by name, including those set on the command line.
    pub numbers: BTreeMap<String, Value>,
    pub buffers: Vec<Buffer>,
    pub launches: Vec<Launch>,
}

/// A buffer in device memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub element: Element,
    pub count: usize,
    /// True if the buffer is a variable of the kernel's file.
    pub symbol: bool,
    /// The initial contents; `None` to leave the memory uninitialized.
    pub initial: Option<Vec<u8>>,
    /// Number of elements to print after the last launch.
    pub print: usize,
    pub expected: Option<Expected>,
    pub tolerance: Option<Tolerance>,
    /// The line in the file.
    pub line: usize,
}

impl Buffer {
    /// Describes a buffer in device memory with these contents, which is neither printed nor compared.
    pub fn new(name: &str, element: Element, contents: Vec<u8>) -> Self {
        Buffer {
            name: name.to_owned(),
            element,
            count: contents.len() / element.size(),
            symbol: false,
            initial: Some(contents),
            print: 0,
            expected: None,
            tolerance: None,
            line: 0,
        }
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        self.count * self.element.size()
    }
}

/// The expected contents of a buffer after the last launch.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The description in the plan.
    pub text: String,
    pub values: Vec<Value>,
}

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub times: u32,
    pub arguments: Vec<Argument>,
    /// The line in the file.
    pub line: usize,
}

impl Launch {
    /// Describes one launch without dynamic shared memory.
    pub fn new(kernel: &str, [grid, block]: [[u32; 3]; 2], arguments: Vec<Argument>) -> Self {
        Launch {
            kernel: kernel.to_owned(),
            grid,
            block,
            shared: 0,
            times: 1,
            arguments,
            line: 0,
        }
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The address of the buffer with this index, plus an offset in bytes.
    Buffer {
        index: usize,
        offset: u64,
    },
    Number(Value),
    /// A structure.
    Structure {
        bytes: Vec<u8>,
        /// The members that are addresses of buffers: their offsets in `bytes`, and the buffers' indices.
        pointers: Vec<(usize, usize)>,
    },
}

/// Resolves numbers and buffers by name. Elements have their initial values.
impl Values for ResolvedPlan {
    fn number(&self, name: &str) -> Option<Value> {
        self.numbers.get(name).copied()
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        let buffer = self.buffers.iter().find(|scope| scope.name == buffer)?;
        let size = buffer.element.size();
        let element = || {
            let from = usize::try_from(index).ok()?.checked_mul(size)?;
            Some(
                buffer
                    .element
                    .value(buffer.initial.as_ref()?.get(from..from + size)?),
            )
        };
        Some(element().ok_or_else(|| {
            format!(
                "index {index} is out of range: {} has {} elements",
                buffer.name, buffer.count
            )
        }))
    }

    fn spend(&self, _: u128) -> Result<(), String> {
        Ok(())
    }
}

/// Limits of the work of resolving plans by other authors.
#[derive(Debug)]
pub struct Limits {
    /// The maximum number of elements of a plan's buffers.
    elements: usize,
    /// The maximum number of operations in expressions.
    steps: u128,
    /// The operations so far.
    spent: Cell<u128>,
}

impl Limits {
    /// Limits the elements of each plan's buffers, and the operations of evaluating the expressions of all plans.
    pub fn new(elements: usize, steps: u128) -> Limits {
        Limits {
            elements,
            steps,
            spent: Cell::new(0),
        }
    }

    /// Sets no limits.
    pub fn none() -> Limits {
        Limits::new(usize::MAX, u128::MAX)
    }

    /// Returns the numbers and buffers of a plan, for evaluation within the limits.
    pub fn scope<'a>(&'a self, plan: &'a ResolvedPlan) -> LimitedScope<'a> {
        LimitedScope { plan, limits: self }
    }
}

/// The numbers and buffers of a plan, for evaluation within limits.
pub struct LimitedScope<'a> {
    plan: &'a ResolvedPlan,
    limits: &'a Limits,
}

impl Values for LimitedScope<'_> {
    fn number(&self, name: &str) -> Option<Value> {
        self.plan.number(name)
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        self.plan.element(buffer, index)
    }

    fn spend(&self, steps: u128) -> Result<(), String> {
        let Limits {
            steps: max, spent, ..
        } = self.limits;
        spent.set(spent.get().saturating_add(steps));
        match spent.get() <= *max {
            true => Ok(()),
            false => Err(format!(
                "evaluating the expressions takes more than {max} operations: use smaller sizes or shorter sums"
            )),
        }
    }
}

impl ResolvedPlan {
    /// Parses and resolves a plan. `set` overrides numbers of the plan, and `directory` is the base of the
    /// paths in it.
    ///
    /// # Errors
    ///
    /// Fails if the plan is not valid, with the line of the error.
    pub fn read(
        text: &Text,
        directory: &Path,
        set: &[(String, String)],
    ) -> Result<ResolvedPlan, PlanError> {
        let plan: Plan = toml::from_str(text.text).map_err(|error| PlanError {
            line: error.span().map_or(0, |span| text.line(span.start)),
            message: error.message().to_owned(),
        })?;
        for (name, _) in set {
            if !plan.numbers.contains_key(name) {
                let message = format!("--set {name}: the launch plan defines no number {name}");
                return Err(PlanError { line: 0, message });
            }
        }
        let resolver = Resolver {
            text,
            surroundings: Surroundings {
                directory: Some(directory),
                sequence: 0,
            },
            limits: &Limits::none(),
        };
        let plan = ResolvedPlan::resolve(&plan, &resolver, ResolvedPlan::default(), set)?;
        if plan.launches.is_empty() {
            return Err(PlanError {
                line: text.lines_before + 1,
                message: "the launch plan has no [[launch]]".to_owned(),
            });
        }
        Ok(plan)
    }

    /// Resolves a plan that is a part of `text` and already parsed, within limits. The plan may refer to the numbers
    /// in `override_value` in addition to its own. Random numbers depend on `sequence`. The plan may lack launches,
    /// and must not name files.
    ///
    /// # Errors
    ///
    /// Fails if the plan is not valid, with the line of the error in the text.
    pub fn within(
        plan: &Plan,
        text: &str,
        override_value: &[(&str, u32)],
        sequence: u32,
        limits: &Limits,
    ) -> Result<ResolvedPlan, PlanError> {
        let text = &Text {
            text,
            lines_before: 0,
        };
        let mut scope = ResolvedPlan::default();
        for &(name, value) in override_value {
            if let Some(existing) = plan.numbers.get(name) {
                let message = format!(
                    "the number {name} is already defined by the problem size: choose another name"
                );
                let line = text.line(existing.span().start);
                return Err(PlanError { line, message });
            }
            scope
                .numbers
                .insert(name.to_owned(), Value::Integer(value.into()));
        }
        let resolver = Resolver {
            text,
            surroundings: Surroundings {
                directory: None,
                sequence,
            },
            limits,
        };
        ResolvedPlan::resolve(plan, &resolver, scope, &[])
    }

    fn resolve(
        plan: &Plan,
        resolver: &Resolver,
        mut scope: ResolvedPlan,
        set: &[(String, String)],
    ) -> Result<ResolvedPlan, PlanError> {
        let mut numbers: Vec<_> = plan.numbers.iter().collect();
        numbers.sort_by_key(|(_, value)| value.span().start);
        for (name, value) in numbers {
            let override_value = set.iter().rev().find(|(scope, _)| scope == name);
            let number = match override_value {
                Some((_, value)) => Expression::parse(value)
                    .and_then(|value| value.value(&resolver.limits.scope(&scope))),
                None => evaluate(value.get_ref(), &resolver.limits.scope(&scope)),
            };
            let number = number
                .map_err(|reason| resolver.error(value, format!("number {name}: {reason}")))?;
            scope.numbers.insert(name.clone(), number);
        }
        for buffer in &plan.buffer {
            let buffer = resolver.buffer(buffer, &scope)?;
            if scope.buffers.iter().any(|other| other.name == buffer.name) {
                let message = format!("two buffers are named {}", buffer.name);
                return Err(PlanError {
                    line: buffer.line,
                    message,
                });
            }
            scope.buffers.push(buffer);
        }
        let expected: Result<Vec<_>, PlanError> = plan
            .buffer
            .iter()
            .zip(&scope.buffers)
            .map(|pair| resolver.expected(pair, &scope))
            .collect();
        for (buffer, expected) in scope.buffers.iter_mut().zip(expected?) {
            buffer.expected = expected;
        }
        let launches = plan
            .launch
            .iter()
            .map(|launch| resolver.launch(launch, &scope));
        scope.launches = launches.collect::<Result<_, _>>()?;
        Ok(scope)
    }
}

/// The maximum size of a buffer. A larger one is most likely a typing error.
const MAX_BUFFER_BYTES: usize = 16 << 30;

/// The resolution of the parts of a plan, given the numbers and buffers before them.
struct Resolver<'a> {
    text: &'a Text<'a>,
    surroundings: Surroundings<'a>,
    limits: &'a Limits,
}

impl Resolver<'_> {
    fn error<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> PlanError {
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
        let value = evaluate(number.get_ref(), &self.limits.scope(scope));
        let value = value.map_err(|reason| self.error(number, format!("{field}: {reason}")))?;
        let integer = match value {
            Value::Integer(value) => usize::try_from(value).ok(),
            Value::Float(_) => None,
        };
        integer.ok_or_else(|| self.error(number, format!("{field} must be a non-negative integer")))
    }

    fn buffer(&self, buffer: &written::Buffer, scope: &ResolvedPlan) -> Result<Buffer, PlanError> {
        let element = Element::named(buffer.element.get_ref())
            .map_err(|reason| self.error(&buffer.element, reason))?;
        let count = self.count(&buffer.count, scope, "count")?;
        if count
            .checked_mul(element.size())
            .is_none_or(|bytes| bytes > MAX_BUFFER_BYTES)
        {
            return Err(self.error(&buffer.count, "a buffer may have at most 16 GiB"));
        }
        let other_elements = scope.buffers.iter().map(|buffer| buffer.count);
        if other_elements.fold(count, usize::saturating_add) > self.limits.elements {
            let message = format!(
                "count: the buffers have more than {} elements in all: use smaller sizes",
                self.limits.elements
            );
            return Err(self.error(&buffer.count, message));
        }
        let fill = buffer.fill.as_ref();
        let initial = initial_bytes(
            fill.map(Spanned::get_ref),
            (element, count),
            self.surroundings,
            &self.limits.scope(scope),
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
    fn expected(
        &self,
        (written, buffer): (&written::Buffer, &Buffer),
        scope: &ResolvedPlan,
    ) -> Result<Option<Expected>, PlanError> {
        let Some(expect) = &written.expect else {
            return Ok(None);
        };
        let element = buffer.element;
        let expected = || -> Result<Expected, String> {
            let (text, values) = match expect.get_ref() {
                Expect::Expression(text) => {
                    let expression = Expression::parse(text)?.substitute(scope);
                    let values = &self.limits.scope(scope);
                    values.spend(
                        (buffer.count as u128).saturating_mul(expression.operation_count()),
                    )?;
                    let value = |index| {
                        let value = expression.value(&Binding::of_index(index, values))?;
                        // Rounded as in memory.
                        Ok(element.value(&element.bytes(value)))
                    };
                    let values = (0..buffer.count).map(value).collect::<Result<_, String>>();
                    (text.clone(), values?)
                }
                Expect::Table(ExpectTable::Values(list)) => {
                    let values = evaluate_list(list, &self.limits.scope(scope))?;
                    let (given, count) = (values.len(), buffer.count);
                    if given != count {
                        return Err(format!("{given} values given for {count} elements"));
                    }
                    ("the values".to_owned(), values)
                }
                Expect::Table(ExpectTable::File(name)) => {
                    let bytes = read_file(self.surroundings, name, buffer.size())?;
                    let values = bytes.chunks_exact(element.size());
                    (
                        name.clone(),
                        values.map(|bytes| element.value(bytes)).collect(),
                    )
                }
            };
            Ok(Expected { text, values })
        };
        let expected = expected().map(Some);
        expected.map_err(|reason| self.error(expect, format!("expect: {reason}")))
    }

    fn launch(&self, launch: &written::Launch, scope: &ResolvedPlan) -> Result<Launch, PlanError> {
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
        let list = match size.get_ref() {
            Size::Scalar(number) => std::slice::from_ref(number),
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
            let value = evaluate(number, &self.limits.scope(scope));
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
        argument: &Spanned<written::Argument>,
        scope: &ResolvedPlan,
    ) -> Result<Argument, PlanError> {
        let value = match argument.get_ref() {
            written::Argument::Integer(value) => {
                Ok(Argument::Number(Value::Integer((*value).into())))
            }
            written::Argument::Float(value) => Ok(Argument::Number(Value::Float(*value))),
            written::Argument::Text(word) => {
                let buffer = scope.buffers.iter().position(|buffer| buffer.name == *word);
                match buffer {
                    Some(index) => Ok(Argument::Buffer { index, offset: 0 }),
                    None => Expression::parse(word)
                        .and_then(|word| word.value(&self.limits.scope(scope)))
                        .map(Argument::Number),
                }
            }
            written::Argument::Members(members) => structure(members, &self.limits.scope(scope)),
        };
        value.map_err(|reason| self.error(argument, format!("argument: {reason}")))
    }
}

/// Lays out a structure as in C: each member at a multiple of its size.
fn structure(members: &[written::Member], scope: &dyn Values) -> Result<Argument, String> {
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
        bytes.extend(element.bytes(evaluate(number, scope)?));
    }
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
    let pointers = Vec::new();
    Ok(Argument::Structure { bytes, pointers })
}

#[cfg(test)]
mod tests;
