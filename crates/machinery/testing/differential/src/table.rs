//! The table of the instruction forms in a series of kernels.

use crate::forms::{self, Forms};
use crate::{generate, ptx_forms};
use cuda_sim::lower::catalogue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Returns a Markdown table: for each instruction the number of its forms that are generated, the number of
/// kernels with it, and the number of its forms that are left out.
pub fn markdown(seed: u64, kernels: std::ops::Range<u64>) -> String {
    let all = Forms::new();
    // The forms of each instruction, and the number of kernels with any of them.
    let mut generated: BTreeMap<String, (BTreeSet<String>, u64)> = BTreeMap::new();
    for number in kernels.clone() {
        let text = generate::kernel(&all, seed, number).ptx(&BTreeSet::new());
        let mut mnemonics = BTreeSet::new();
        for form in ptx_forms::forms(&text) {
            let mnemonic = mnemonic(&form);
            generated
                .entry(mnemonic.clone())
                .or_default()
                .0
                .insert(form);
            mnemonics.insert(mnemonic);
        }
        for mnemonic in mnemonics {
            generated.entry(mnemonic).or_default().1 += 1;
        }
    }
    let mut excluded: BTreeMap<&str, u64> = BTreeMap::new();
    for form in catalogue() {
        if forms::exclusion_reason(&form).is_some() {
            *excluded.entry(form.mnemonic).or_default() += 1;
        }
    }
    let mut text =
        "| instruction | forms | kernels with it | forms left out |\n| --- | --: | --: | --: |\n"
            .to_owned();
    let mut totals = (0, 0);
    for (mnemonic, (forms, kernels)) in &generated {
        let excluded_count = excluded.get(mnemonic.as_str()).copied().unwrap_or(0);
        totals = (totals.0 + forms.len(), totals.1 + excluded_count);
        let excluded_count = if excluded_count == 0 {
            String::new()
        } else {
            excluded_count.to_string()
        };
        let _ = writeln!(
            text,
            "| `{mnemonic}` | {} | {kernels} | {excluded_count} |",
            forms.len()
        );
    }
    let _ = writeln!(
        text,
        "| all | {} | {} | {} |",
        totals.0,
        kernels.end - kernels.start,
        totals.1
    );
    text
}

/// Returns the table row that a form belongs to. `cp` has a row for each kind, for example `cp.async`.
fn mnemonic(form: &str) -> String {
    let mut parts = form.split(['.', ' ']);
    let first = parts.next().unwrap_or_default();
    match (first, parts.next()) {
        ("cp", Some(second)) => format!("{first}.{second}"),
        _ => first.to_owned(),
    }
}
