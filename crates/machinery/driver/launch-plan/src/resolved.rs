//! The plan with all names resolved and all sizes evaluated.

mod resolver;

use std::collections::BTreeMap;
use std::path::Path;

use crate::PlanError;
use crate::comment::Text;
use crate::element::Element;
use crate::expression::{Expression, Value, Values};
use crate::fill;
use crate::plan::{Plan, Tolerance};
use resolver::Resolver;

/// A launch plan, ready for execution.
#[derive(Clone, Debug, Default)]
pub struct ResolvedPlan {
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

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The address of the buffer with this index.
    Buffer(usize),
    Number(Value),
    /// The bytes of a structure.
    Structure(Vec<u8>),
}

/// Resolves numbers and buffers by name. Elements have their initial values.
impl Values for ResolvedPlan {
    fn number(&self, name: &str) -> Option<Value> {
        self.numbers.get(name).copied()
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        let buffer = self.buffers.iter().find(|scope| scope.name == buffer)?;
        let missing = || {
            format!(
                "index {index} is out of range: {} has {} elements",
                buffer.name, buffer.count
            )
        };
        let element = || {
            let from = usize::try_from(index)
                .ok()?
                .checked_mul(buffer.element.size())?;
            let bytes = buffer.initial.as_ref()?;
            Some(
                buffer
                    .element
                    .value(bytes.get(from..from + buffer.element.size())?),
            )
        };
        Some(element().ok_or_else(missing))
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
            directory,
            sequence: 0,
        };
        let plan = ResolvedPlan::resolve(&plan, &resolver, ResolvedPlan::default(), set)?;
        match plan.launches.is_empty() {
            false => Ok(plan),
            true => Err(PlanError {
                line: text.lines_before + 1,
                message: "the launch plan has no [[launch]]".to_owned(),
            }),
        }
    }

    /// Resolves a plan that is a part of `text` and already parsed. The plan may refer to the numbers in
    /// `given` in addition to its own. Random numbers depend on `sequence`. The plan may lack launches.
    ///
    /// # Errors
    ///
    /// Fails if the plan is not valid, with the line of the error in the text.
    pub fn within(
        plan: &Plan,
        text: &str,
        directory: &Path,
        override_value: &[(&str, u32)],
        sequence: u32,
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
            directory,
            sequence,
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
                Some((_, value)) => Expression::parse(value).and_then(|value| value.value(&scope)),
                None => fill::evaluate(value.get_ref(), &scope),
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

#[cfg(test)]
mod tests;
