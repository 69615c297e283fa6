//! The parts of `exercise.toml` that extend a launch plan: outputs and optional variables.

use anyhow::{Result, ensure};
use launch_plan::Element;
use launch_plan::plan::Number;
use serde::Deserialize;

use super::{Data, Kind};

/// A buffer whose contents are compared with the expected results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The buffer's name.
    pub buffer: String,
    /// The lengths of its dimensions, outermost first (rows, then columns); by default one dimension of
    /// `count` elements.
    #[serde(default)]
    pub shape: Vec<Number>,
    /// The label of each element, if the student predicts it. Expected values are not shown then.
    #[serde(default)]
    pub predicts: Vec<String>,
}

impl Data {
    pub(super) fn validate_outputs(&self) -> Result<()> {
        ensure!(
            !self.outputs.is_empty(),
            "there is no [[output]]: name the buffer with the results, for example [[output]] \
             buffer = \"out\""
        );
        ensure!(
            !self.launch.is_empty() || self.kind == Kind::Predict,
            "there is no [[launch]]: it names the kernel and its arguments"
        );
        for (index, output) in self.outputs.iter().enumerate() {
            let name = &output.buffer;
            let buffer = self
                .buffer
                .iter()
                .find(|buffer| buffer.name.get_ref() == name);
            let Some(buffer) = buffer else {
                anyhow::bail!("[[output]] {name}: there is no [[buffer]] of this name");
            };
            let of = Element::named(buffer.element.get_ref());
            ensure!(
                matches!(of, Ok(Element::F32 | Element::I32 | Element::U32) | Err(_)),
                "[[output]] {name}: an output must be float, int or unsigned int"
            );
            ensure!(
                !self.outputs[..index]
                    .iter()
                    .any(|other| other.buffer == *name),
                "[[output]] {name} is listed twice"
            );
        }
        for name in &self.optional {
            let mut variables = self.buffer.iter().filter(|buffer| buffer.symbol);
            ensure!(
                variables.any(|buffer| buffer.name.get_ref() == name),
                "optional: there is no [[buffer]] {name} with symbol = true"
            );
        }
        let expected = self.buffer.iter().filter(|buffer| buffer.expect.is_some());
        for buffer in expected {
            let name = buffer.name.get_ref();
            ensure!(
                self.outputs.iter().any(|output| output.buffer == *name),
                "[[buffer]] {name} has `expect` but no [[output]]"
            );
        }
        let unsupported = self
            .buffer
            .iter()
            .find(|buffer| buffer.print.is_some() || buffer.tolerance.is_some());
        ensure!(
            unsupported.is_none(),
            "[[buffer]]: `print` and `tolerance` belong to cuda-run; here [tolerance] applies to \
             all floats"
        );
        Ok(())
    }
}
