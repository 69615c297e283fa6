//! The table of what a series of kernels has.

use crate::forms::{self, Forms};
use crate::{generate, written};
use cuda_sim::lower::catalogue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Markdown: for each instruction how many forms of it the kernels have and how many kernels have it,
/// and how many forms are left out.
pub fn markdown(seed: u64, kernels: std::ops::Range<u64>) -> String {
    let all = Forms::new();
    // Forms, and the kernels with one of them.
    let mut found: BTreeMap<String, (BTreeSet<String>, u64)> = BTreeMap::new();
    for number in kernels.clone() {
        let text = generate::kernel(&all, seed, number).ptx(&BTreeSet::new());
        let mut here = BTreeSet::new();
        for form in written::forms(&text) {
            let mnemonic = mnemonic(&form);
            found.entry(mnemonic.clone()).or_default().0.insert(form);
            here.insert(mnemonic);
        }
        for mnemonic in here {
            found.entry(mnemonic).or_default().1 += 1;
        }
    }
    let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
    for known in catalogue() {
        if forms::left_out(&known).is_some() {
            *left_out.entry(known.mnemonic).or_default() += 1;
        }
    }
    let mut text =
        "| instruction | forms | kernels with it | forms left out |\n| --- | --: | --: | --: |\n"
            .to_owned();
    let mut sum = (0, 0);
    for (mnemonic, (forms, kernels)) in &found {
        let out = left_out.get(mnemonic.as_str()).copied().unwrap_or(0);
        sum = (sum.0 + forms.len(), sum.1 + out);
        let out = if out == 0 {
            String::new()
        } else {
            out.to_string()
        };
        let _ = writeln!(
            text,
            "| `{mnemonic}` | {} | {kernels} | {out} |",
            forms.len()
        );
    }
    let _ = writeln!(
        text,
        "| all | {} | {} | {} |",
        sum.0,
        kernels.end - kernels.start,
        sum.1
    );
    text
}

/// The instruction that a form is of; what differs in kind is apart: `bar.red`, `cp.async`.
fn mnemonic(form: &str) -> String {
    let mut parts = form.split(['.', ' ']);
    let first = parts.next().unwrap_or_default();
    match (first, parts.next()) {
        ("cp", Some(second)) => format!("{first}.{second}"),
        _ => first.to_owned(),
    }
}
