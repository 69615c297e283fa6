//! Which kernels a PTX text has, and what they take.

use anyhow::{Result, bail};

use cuda_driver::names::plain;

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name in the PTX.
    pub symbol: String,
    pub parameters: Vec<Parameter>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A number of PTX's type, `f32`.
    Number(String),
    /// So many bytes.
    Bytes(usize),
}

/// The kernels of a text that clang wrote.
pub fn of(ptx: &str) -> Vec<EntryPoint> {
    let parts = ptx.split(".entry ").skip(1);
    parts.filter_map(entry).collect()
}

fn entry(text: &str) -> Option<EntryPoint> {
    let end = text.find(['(', '{', '\n'])?;
    let symbol = text[..end].trim().to_owned();
    // One without parameters may have no brackets.
    let list = match text[end..].starts_with('(') {
        true => text[end + 1..].split(')').next().unwrap_or_default(),
        false => "",
    };
    let each = list.split(',').map(str::trim).filter(|one| !one.is_empty());
    Some(EntryPoint {
        symbol,
        parameters: each.map(parameter).collect(),
    })
}

/// `.param .u64 add_param_0`, `.param .align 8 .b8 add_param_0[16]`.
fn parameter(text: &str) -> Parameter {
    if let Some((_, length)) = text.trim_end_matches(']').rsplit_once('[') {
        return Parameter::Bytes(length.parse().unwrap_or_default());
    }
    let mut words = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('.'));
    let is_type = |word: &&str| {
        let (first, digits) = word.split_at(word.len().min(1));
        "usfb".contains(first) && digits.parse::<u32>().is_ok()
    };
    Parameter::Number(words.find(is_type).unwrap_or("u64").to_owned())
}

/// The kernel that its author calls so.
///
/// # Errors
///
/// Where there is none, or several: which there are.
pub fn find<'a>(entries: &'a [EntryPoint], name: &str) -> Result<&'a EntryPoint> {
    let its = |entry: &&EntryPoint| entry.symbol == name || plain(&entry.symbol) == name;
    let found: Vec<&EntryPoint> = entries.iter().filter(its).collect();
    match found[..] {
        [one] => Ok(one),
        [] if entries.is_empty() => bail!("the file has no kernel (a function that is __global__)"),
        [] => {
            let names: Vec<String> = entries.iter().map(|entry| plain(&entry.symbol)).collect();
            bail!(
                "the file has no kernel {name}; there are {}",
                names.join(", ")
            )
        }
        _ => {
            let symbols: Vec<&str> = found.iter().map(|entry| entry.symbol.as_str()).collect();
            bail!(
                "there are several kernels {name}; name one as PTX does: {}",
                symbols.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.visible .entry _Z3addPfi(
\t.param .u64 _Z3addPfi_param_0,
\t.param .u32 _Z3addPfi_param_1
)
.maxntid 1, 1, 1
{
}
.visible .entry none()
{
}
.visible .entry pair(
\t.param .align 8 .b8 pair_param_0[16],
\t.param .u64 .ptr .global .align 4 pair_param_1,
\t.param .f32 pair_param_2
)
{
}
.visible .entry _Z3addPdi(
)
{
}
";

    #[test]
    fn kernels_and_their_parameters_are_read() {
        let entries = of(PTX);
        let number = |name: &str| Parameter::Number(name.to_owned());
        let parameters: Vec<_> = entries
            .iter()
            .map(|entry| entry.parameters.clone())
            .collect();
        assert_eq!(
            parameters,
            [
                vec![number("u64"), number("u32")],
                vec![],
                vec![Parameter::Bytes(16), number("u64"), number("f32")],
                vec![],
            ]
        );
        assert_eq!(find(&entries, "none").unwrap().symbol, "none");
        let said = |name| find(&entries, name).unwrap_err().to_string();
        assert_eq!(
            said("ad"),
            "the file has no kernel ad; there are add, none, pair, add"
        );
        assert!(said("add").contains("_Z3addPfi, _Z3addPdi"));
        assert!(
            find(&[], "add")
                .unwrap_err()
                .to_string()
                .contains("no kernel (a function")
        );
    }
}
