//! Kernels' names as their authors wrote them.

use cpp_demangle::{DemangleOptions, Symbol};

/// A kernel's name without its parameters: `add<float>` for `_Z3addIfEvPT_`. A name that C++ has not
/// mangled stays as it is.
pub fn plain(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_params().no_return_type())
}

/// With its parameters: `add(float*, int)`.
pub fn in_full(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_return_type())
}

fn demangled(symbol: &str, how: DemangleOptions) -> String {
    let read = Symbol::new(symbol).ok();
    let text = read.and_then(|symbol| symbol.demangle_with_options(&how).ok());
    text.unwrap_or_else(|| symbol.to_owned())
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
    }
}
