//! Pure virtual and deleted functions of classes in kernels (`virtual float area() const = 0;`).

use std::borrow::Cow;

/// The functions in a vtable entry that has no definition. C++'s runtime library defines them on the host; on
/// the GPU nothing does.
const VIRTUAL_STUBS: [&str; 2] = ["__cxa_pure_virtual", "__cxa_deleted_virtual"];

/// Defines these functions in the PTX so that calling one traps.
pub fn define_traps(ptx: &str) -> Cow<'_, str> {
    let mut patched = Cow::Borrowed(ptx);
    for name in VIRTUAL_STUBS {
        let declaration = format!(".extern .func {name}\n()\n;\n");
        if patched.contains(&declaration) {
            let definition = format!(".weak .func {name}()\n{{\n\ttrap;\n\tret;\n}}\n");
            patched = Cow::Owned(patched.replace(&declaration, &definition));
        }
    }
    patched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_virtual_function_traps() {
        let ptx = ".extern .func __cxa_pure_virtual\n()\n;\n.visible .entry a()\n";
        let patched = define_traps(ptx);
        assert!(patched.starts_with(".weak .func __cxa_pure_virtual()\n{\n\ttrap;"));
        assert!(patched.ends_with("}\n.visible .entry a()\n"));
    }

    #[test]
    fn other_functions_are_unchanged() {
        let ptx = ".extern .func other\n()\n;\n";
        assert!(matches!(define_traps(ptx), Cow::Borrowed(unchanged) if unchanged == ptx));
    }
}
