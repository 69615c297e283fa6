//! The files of a crate, and the violations of their order.

use crate::reader::{ItemPath, Mention, Reader};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;
use syn::visit::Visit;

/// The paths and imports of one file.
struct SourceFile {
    /// The file's path, relative to `src`.
    path: String,
    mentions: Vec<Mention>,
    /// All imports of the file, private and public, by the paths of their local names.
    imports: BTreeMap<ItemPath, ItemPath>,
}

/// The files of a crate, by module.
pub struct Source(BTreeMap<ItemPath, SourceFile>);

impl Source {
    /// Reads the source files of the crate in this folder, starting at its `lib.rs`, or `main.rs` if it has no library.
    ///
    /// # Panics
    ///
    /// Panics if a file is missing or cannot be parsed.
    pub fn of_crate(dir: &Path) -> Source {
        let src = dir.join("src");
        let root = ["lib.rs", "main.rs"]
            .into_iter()
            .find(|root| src.join(root).is_file())
            .unwrap_or_else(|| panic!("{} contains no crate", src.display()));
        Source::read(root, &|path| fs::read_to_string(src.join(path)).ok())
    }

    /// Reads the crate whose root is this file. `load` returns the text of a file, or `None` if there is none.
    pub(crate) fn read(root: &str, load: &dyn Fn(&str) -> Option<String>) -> Source {
        let mut files = BTreeMap::new();
        let mut queue = vec![(ItemPath::new(), root.to_owned())];
        while let Some((module, path)) = queue.pop() {
            let text = load(&path).unwrap_or_else(|| panic!("{path} is missing"));
            let tree = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
            let mut reader = Reader::new(&module, &tree.items);
            reader.visit_file(&tree);
            for child in &reader.files {
                let path = child.join("/");
                let flat_path = format!("{path}.rs");
                let child_path = match load(&flat_path) {
                    Some(_) => flat_path,
                    None => format!("{path}/mod.rs"),
                };
                queue.push((child.clone(), child_path));
            }
            let file = SourceFile {
                path,
                mentions: reader.mentions,
                imports: reader.imports,
            };
            files.insert(module, file);
        }
        Source(files)
    }

    /// Returns all modules that have files of their own.
    pub fn modules(&self) -> Vec<&ItemPath> {
        self.0.keys().collect()
    }

    /// Returns the number of paths that the files name.
    pub fn mention_count(&self) -> usize {
        self.0.values().map(|file| file.mentions.len()).sum()
    }

    /// Returns the modules of the crate's root.
    pub fn top_modules(&self) -> BTreeSet<&str> {
        let modules = self.0.keys().filter(|module| module.len() == 1);
        modules.map(|module| module[0].as_str()).collect()
    }

    /// Returns the module of the file that defines the item with this path.
    fn defining_module(&self, names: &[String]) -> ItemPath {
        let mut names = names.to_vec();
        // A chain of re-exports is short, unless a faulty source imports an item from itself.
        for _ in 0..16 {
            let lengths = (0..=names.len()).rev();
            let mut modules = lengths.map(|length| names[..length].to_vec());
            let module = modules.find(|module| self.0.contains_key(module));
            let module = module.unwrap_or_default();
            let import = self.0.get(&module).and_then(|file| {
                (module.len()..=names.len())
                    .find_map(|end| Some((file.imports.get(&names[..end])?, &names[end..])))
            });
            match import {
                Some((target, rest)) => names = [target, rest].concat(),
                None => return module,
            }
        }
        panic!("{} imports itself", names.join("::"));
    }

    /// Returns the violations of the layers' order, one sentence each.
    pub fn layer_violations(&self, layers: &[&[&str]]) -> Vec<String> {
        let layer_of =
            |module_name: &str| layers.iter().position(|layer| layer.contains(&module_name));
        let top_modules = self.top_modules();
        let unplaced = top_modules
            .iter()
            .filter(|module_name| layer_of(module_name).is_none());
        let missing = layers
            .iter()
            .copied()
            .flatten()
            .filter(|module_name| !top_modules.contains(**module_name));
        let mut violations: Vec<String> = unplaced
            .map(|module_name| format!("module {module_name} of lib.rs is in no layer"))
            .chain(
                missing
                    .map(|module_name| format!("module {module_name} of a layer is not in lib.rs")),
            )
            .collect();
        for (module, file) in &self.0 {
            for Mention { line, names, .. } in
                file.mentions.iter().filter(|mention| !mention.is_imported)
            {
                let defining_module = self.defining_module(names);
                let (Some(from_module), Some(to_module)) =
                    (module.first(), defining_module.first())
                else {
                    continue;
                };
                let (Some(own_layer), Some(named_layer)) =
                    (layer_of(from_module), layer_of(to_module))
                else {
                    continue;
                };
                if named_layer >= own_layer && from_module != to_module {
                    let relation = if named_layer == own_layer {
                        "next to"
                    } else {
                        "after"
                    };
                    let layer = |index: usize| {
                        format!("layer {} ({})", index + 1, layers[index].join(", "))
                    };
                    violations.push(format!(
                        "{}:{line} names {}: {to_module} is in {}, {relation} {from_module} in {}",
                        file.path,
                        names.join("::"),
                        layer(named_layer),
                        layer(own_layer),
                    ));
                }
            }
        }
        violations
    }

    /// Returns the cycles of files, with one line per step of each.
    pub fn cycles(&self) -> Vec<Cycle> {
        // For each module with submodules: the dependencies between them, and their locations.
        let mut levels: BTreeMap<ItemPath, BTreeMap<(ItemPath, ItemPath), String>> =
            BTreeMap::new();
        for (module, file) in &self.0 {
            for Mention { line, names, .. } in &file.mentions {
                let defining_module = self.defining_module(names);
                let pairs = module.iter().zip(&defining_module);
                let common = pairs.take_while(|(name, other)| name == other).count();
                if common == module.len() || common == defining_module.len() {
                    // A dependency within a family.
                    continue;
                }
                let step = (
                    module[..=common].to_vec(),
                    defining_module[..=common].to_vec(),
                );
                let level = levels.entry(module[..common].to_vec()).or_default();
                level
                    .entry(step)
                    .or_insert_with(|| format!("{}:{line} names {}", file.path, names.join("::")));
            }
        }
        levels
            .iter()
            .flat_map(|(parent, steps)| cycles_of(parent, steps))
            .collect()
    }
}

/// Submodules that depend on each other in a cycle.
#[derive(Debug)]
pub struct Cycle {
    /// Their parent module.
    pub parent: ItemPath,
    /// The dependencies between them, with their locations.
    pub steps: Vec<String>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = self.parent.join("::");
        write!(f, "a cycle in {parent}:\n  {}", self.steps.join("\n  "))
    }
}

/// Returns the cycles among the submodules of `parent`.
fn cycles_of(parent: &ItemPath, steps: &BTreeMap<(ItemPath, ItemPath), String>) -> Vec<Cycle> {
    let mut graph = DiGraph::<&ItemPath, &str>::new();
    let mut nodes: BTreeMap<&ItemPath, NodeIndex> = BTreeMap::new();
    for ((from, to), location) in steps {
        let [from, to] = [from, to].map(|module| {
            *nodes
                .entry(module)
                .or_insert_with(|| graph.add_node(module))
        });
        graph.add_edge(from, to, location);
    }
    let cycles = tarjan_scc(&graph)
        .into_iter()
        .filter(|cycle| cycle.len() > 1);
    cycles
        .map(|cycle| {
            let path = steps.iter().filter(|((from, to), _)| {
                cycle.contains(&nodes[from]) && cycle.contains(&nodes[to])
            });
            Cycle {
                parent: parent.clone(),
                steps: path.map(|(_, location)| location.clone()).collect(),
            }
        })
        .collect()
}
