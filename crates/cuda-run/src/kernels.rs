//! All launches of a kernel together.

use cpp_demangle::{DemangleOptions, Symbol};
use cuda_driver::LaunchRecord;

/// A kernel and what its launches did.
#[derive(Debug)]
pub struct Kernel {
    /// As its author calls it: `add<float>`.
    pub name: String,
    /// Its name in the PTX, which tells kernels of one name and other parameters apart.
    symbol: String,
    /// How often it was launched.
    pub launches: u64,
    /// Whether its launches had other grids or blocks than the first.
    pub varied: bool,
    /// All launches together; its kernel is [`Self::name`], its grid that of the first.
    pub all: LaunchRecord,
}

/// The kernels of a program, in the order of their first launches.
#[derive(Debug, Default)]
pub struct Kernels(Vec<Kernel>);

impl Kernels {
    /// Adds a launch.
    pub fn add(&mut self, mut launch: LaunchRecord) {
        // clang names files from the current folder.
        for line in launch
            .profile
            .iter_mut()
            .flat_map(|profile| &mut profile.lines)
        {
            if let Some(short) = line.file.strip_prefix("./") {
                line.file = short.to_owned();
            }
        }
        let known = self
            .0
            .iter_mut()
            .find(|known| known.symbol == launch.kernel);
        let Some(known) = known else {
            let symbol = launch.kernel.clone();
            let name = plain(&symbol);
            let all = LaunchRecord {
                kernel: name.clone(),
                ..launch
            };
            self.0.push(Kernel {
                name,
                symbol,
                launches: 1,
                varied: false,
                all,
            });
            return;
        };
        known.launches += 1;
        known.varied |= (known.all.grid, known.all.block) != (launch.grid, launch.block);
        known.all.add(&launch);
    }

    /// All of them. Those of one name have their parameters with it.
    pub fn finish(mut self) -> Vec<Kernel> {
        let names: Vec<String> = self.0.iter().map(|kernel| kernel.name.clone()).collect();
        for kernel in &mut self.0 {
            if names.iter().filter(|name| **name == kernel.name).count() > 1 {
                kernel.name = in_full(&kernel.symbol);
                kernel.all.kernel.clone_from(&kernel.name);
            }
        }
        self.0
    }
}

/// A kernel's name as its author wrote it, without its parameters.
pub fn plain(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_params().no_return_type())
}

/// With its parameters.
pub fn in_full(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_return_type())
}

fn demangled(symbol: &str, how: DemangleOptions) -> String {
    let symbol = without_file(symbol);
    let read = Symbol::new(symbol).ok();
    let text = read.and_then(|symbol| symbol.demangle_with_options(&how).ok());
    text.unwrap_or_else(|| symbol.to_owned())
}

/// Where the kernels of several files are linked, clang ends the names of static ones with a number of their
/// file.
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
