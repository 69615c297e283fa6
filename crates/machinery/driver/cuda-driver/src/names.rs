//! Demangling of kernel names.

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns a kernel's name without its parameters: `add<float>` for `_Z3addIfEvPT_`. A name that is not
/// mangled is returned unchanged.
pub fn short(symbol: &str) -> String {
    demangle(symbol, DemangleOptions::new().no_params().no_return_type())
}

/// Returns a kernel's name with its parameter types: `add(float*, int)`.
pub fn with_parameters(symbol: &str) -> String {
    demangle(symbol, DemangleOptions::new().no_return_type())
}

fn demangle(symbol: &str, options: DemangleOptions) -> String {
    let symbol = strip_file_suffix(symbol);
    // Other names may be encodings of types: `x` is `long long`.
    let is_mangled = symbol.starts_with("_Z") || symbol.starts_with("__Z");
    let parsed = is_mangled.then(|| Symbol::new(symbol).ok()).flatten();
    let text = parsed.and_then(|symbol| symbol.demangle_with_options(&options).ok());
    text.unwrap_or_else(|| symbol.to_owned())
}

/// Strips the file suffix that clang appends to the names of static kernels when it links several files.
fn strip_file_suffix(symbol: &str) -> &str {
    let separators = ["__intern__", "__static__"].into_iter();
    let split = separators.filter_map(|separator| symbol.rsplit_once(separator));
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
    fn kernel_names_are_demangled() {
        assert_eq!(short("add"), "add");
        assert_eq!(short("_Z9vectorAddPKfS0_Pfi"), "vectorAdd");
        assert_eq!(short("_Z3addIfLi4EEvPT_"), "add<float, 4>");
        assert_eq!(with_parameters("_Z3addPfi"), "add(float*, int)");
        let linked = "_ZL3addPfi__intern__3fa3c9e2b67021b2";
        assert_eq!(
            [short(linked), with_parameters(linked)],
            ["add", "add(float*, int)"]
        );
        assert_eq!(short("my__intern__x"), "my__intern__x");
    }
}
