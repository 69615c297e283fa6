//! Demangling of kernel names.

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns a kernel's name without its parameters: `add<float>` for `_Z3addIfEvPT_`. A name that is not
/// mangled is
/// returned unchanged.
pub fn plain(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_params().no_return_type())
}

/// Returns a kernel's name with its parameter types: `add(float*, int)`.
pub fn in_full(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_return_type())
}

fn demangled(symbol: &str, how: DemangleOptions) -> String {
    let symbol = without_file(symbol);
    let read = Symbol::new(symbol).ok();
    let text = read.and_then(|symbol| symbol.demangle_with_options(&how).ok());
    text.unwrap_or_else(|| symbol.to_owned())
}

/// Strips the file suffix that clang appends to the names of static kernels when it links several files.
fn without_file(symbol: &str) -> &str {
    let ends = ["__intern__", "__static__"].into_iter();
    let split = ends.filter_map(|end| symbol.rsplit_once(end));
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit() || c == '_');
    split
        .filter(|(name, number)| !name.is_empty() && is_number(number))
        .map(|(name, _)| name)
        .next()
        .unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_called_as_in_the_source() {
        assert_eq!(plain("add"), "add");
        assert_eq!(plain("_Z9vectorAddPKfS0_Pfi"), "vectorAdd");
        assert_eq!(plain("_Z3addIfLi4EEvPT_"), "add<float, 4>");
        assert_eq!(in_full("_Z3addPfi"), "add(float*, int)");
        let linked = "_ZL3addPfi__intern__3fa3c9e2b67021b2";
        assert_eq!(
            [plain(linked), in_full(linked)],
            ["add", "add(float*, int)"]
        );
        assert_eq!(plain("my__intern__x"), "my__intern__x");
    }
}
