//! Member functions of kernels' classes that have no body (`virtual float area() const = 0;`).

use std::borrow::Cow;

/// What the table of a class's functions names in the place of one that has no body, or that is deleted. C++'s
/// library for the host has these functions; for the GPU nothing has.
const NAMES: [&str; 2] = ["__cxa_pure_virtual", "__cxa_deleted_virtual"];

/// The PTX with a body for them, which ends the kernel with an error.
pub fn that_traps(ptx: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(ptx);
    for name in NAMES {
        let declared = format!(".extern .func {name}\n()\n;\n");
        if text.contains(&declared) {
            let defined = format!(".weak .func {name}()\n{{\n\ttrap;\n\tret;\n}}\n");
            text = Cow::Owned(text.replace(&declared, &defined));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_without_a_body_traps() {
        let ptx = ".extern .func __cxa_pure_virtual\n()\n;\n.visible .entry a()\n";
        let mended = that_traps(ptx);
        assert!(mended.starts_with(".weak .func __cxa_pure_virtual()\n{\n\ttrap;"));
        assert!(mended.ends_with("}\n.visible .entry a()\n"));
    }

    #[test]
    fn other_text_stays() {
        let ptx = ".extern .func other\n()\n;\n";
        assert!(matches!(that_traps(ptx), Cow::Borrowed(same) if same == ptx));
    }
}
