//! The functions of doubles, against a table of correctly rounded values.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;

use crate::functions::Function;
use crate::machine::Machine;
use crate::ulps::{Measured, between_doubles};

/// The table that is measured against, if no other is named: `scripts/mathematics-values` makes it.
pub const VALUES: &str = include_str!("../values/double.txt");

/// Arguments of a function, one behind the other, and its values.
#[derive(Debug, Default)]
pub struct Known {
    pub arity: usize,
    pub arguments: Vec<f64>,
    pub values: Vec<f64>,
}

/// What the table knows of each function.
pub fn known(table: &str) -> Result<BTreeMap<String, Known>> {
    let mut all = BTreeMap::new();
    let mut current: Option<&mut Known> = None;
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        if let [name, arity] = words[..]
            && arity.len() == 1
        {
            let known: &mut Known = all.entry(name.to_owned()).or_default();
            known.arity = arity.parse()?;
            current = Some(known);
            continue;
        }
        let Some(known) = current.as_deref_mut() else {
            bail!("a value before the name of a function: {line}");
        };
        ensure!(
            words.len() == known.arity + 1,
            "not so many numbers: {line}"
        );
        for (index, word) in words.iter().enumerate() {
            let bits = u64::from_str_radix(word, 16).with_context(|| line.to_owned())?;
            match index < known.arity {
                true => known.arguments.push(f64::from_bits(bits)),
                false => known.values.push(f64::from_bits(bits)),
            }
        }
    }
    Ok(all)
}

/// The name under which the table has a function: what has two results is two functions there.
fn listed(function: &Function) -> String {
    match function.name {
        "sincos_first" => "sin".into(),
        "sincos_second" => "cos".into(),
        "sincospi_first" => "sinpi".into(),
        "sincospi_second" => "cospi".into(),
        "norm" => "norm4d".into(),
        "rnorm" => "rnorm4d".into(),
        _ => function.label(),
    }
}

/// Measures one function; nothing where the table does not know it.
pub fn measure(
    machine: &mut Machine,
    table: &BTreeMap<String, Known>,
    function: &Function,
) -> Result<Option<Measured>> {
    let Some(known) = table.get(&listed(function)) else {
        return Ok(None);
    };
    ensure!(known.arity == function.arity, "{}", function.name);
    let results = machine.evaluate(function.name, &known.arguments, known.arity)?;
    let mut measured = Measured::default();
    let compared = known.arguments.chunks(known.arity).zip(&known.values);
    for ((arguments, &expected), result) in compared.zip(results) {
        if function.range.contains(arguments) {
            let distance = between_doubles(result, expected);
            measured.compare(arguments, result, expected, distance, function.double);
        }
    }
    Ok(Some(measured))
}
