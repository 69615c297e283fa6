//! The files of a crate, and the violations of their order.

use crate::reader::{Mention, Names, Reader};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// The paths and imports of one file.
pub struct SourceFile {
    /// The file's path, relative to `src`.
    pub path: String,
    pub mentions: Vec<Mention>,
    /// All imports of the file, private and public, by their local names.
    pub imports: BTreeMap<String, Names>,
}

/// The files of a crate, by module.
pub struct Source(pub BTreeMap<Names, SourceFile>);

impl Source {
    /// Reads the crate whose root is `lib.rs`. `load` returns the text of a file, or `None` if there is none.
    pub fn read(load: &dyn Fn(&str) -> Option<String>) -> Source {
        let mut files = BTreeMap::new();
        let mut open = vec![(Names::new(), "lib.rs".to_owned())];
        while let Some((module, path)) = open.pop() {
            let text = load(&path).unwrap_or_else(|| panic!("{path} is missing"));
            let tree = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
            let mut reader = Reader::new(&module, &tree.items);
            reader.visit_file(&tree);
            for child in &reader.files {
                let inside = child.join("/");
                let beside = format!("{inside}.rs");
                let found = match load(&beside) {
                    Some(_) => beside,
                    None => format!("{inside}/mod.rs"),
                };
                open.push((child.clone(), found));
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

    /// Returns the modules of `lib.rs`.
    pub fn rooms(&self) -> BTreeSet<&str> {
        let modules = self.0.keys().filter(|module| module.len() == 1);
        modules.map(|module| module[0].as_str()).collect()
    }

    /// Returns the module of the file that defines the item with this path.
    fn definer(&self, names: &[String]) -> Names {
        let mut names = names.to_vec();
        // A chain of re-exports is short, unless a faulty source imports an item from itself.
        for _ in 0..16 {
            let lengths = (0..=names.len()).rev();
            let mut modules = lengths.map(|length| names[..length].to_vec());
            let module = modules.find(|module| self.0.contains_key(module));
            let module = module.unwrap_or_default();
            let imported = names
                .get(module.len())
                .and_then(|name| self.0.get(&module)?.imports.get(name));
            match imported {
                Some(target) => {
                    let rest = names[module.len() + 1..].iter().cloned();
                    names = target.iter().cloned().chain(rest).collect();
                }
                None => return module,
            }
        }
        panic!("{} is an import of itself", names.join("::"));
    }

    /// Returns the violations of the layers' order, one sentence each.
    pub fn against_layers(&self, layers: &[&[&str]]) -> Vec<String> {
        let step_of = |room: &str| layers.iter().position(|step| step.contains(&room));
        let rooms = self.rooms();
        let unplaced = rooms.iter().filter(|room| step_of(room).is_none());
        let missing = layers
            .iter()
            .copied()
            .flatten()
            .filter(|room| !rooms.contains(**room));
        let mut wrong: Vec<String> = unplaced
            .map(|room| format!("lib.rs has the room {room}, which is in no layer"))
            .chain(missing.map(|room| format!("lib.rs has no room {room}, which is in a layer")))
            .collect();
        for (module, file) in &self.0 {
            for Mention { line, names, .. } in file.mentions.iter().filter(|one| !one.imported) {
                let definer = self.definer(names);
                let (Some(here), Some(there)) = (module.first(), definer.first()) else {
                    continue;
                };
                let (Some(own), Some(named)) = (step_of(here), step_of(there)) else {
                    continue;
                };
                if named >= own && here != there {
                    let side = if named == own { "beside" } else { "after" };
                    let layer =
                        |step: usize| format!("layer {} ({})", step + 1, layers[step].join(", "));
                    wrong.push(format!(
                        "{}:{line} names {}: {there} is in {}, {side} {here} in {}",
                        file.path,
                        names.join("::"),
                        layer(named),
                        layer(own),
                    ));
                }
            }
        }
        wrong
    }

    /// Returns the cycles of files, with one line per step of each.
    pub fn circles(&self) -> Vec<Circle> {
        // For each module with submodules: the dependencies between them, and their locations.
        let mut levels: BTreeMap<Names, BTreeMap<(Names, Names), String>> = BTreeMap::new();
        for (module, file) in &self.0 {
            for Mention { line, names, .. } in &file.mentions {
                let definer = self.definer(names);
                let both = module.iter().zip(&definer);
                let common = both.take_while(|(own, other)| own == other).count();
                if common == module.len() || common == definer.len() {
                    // A dependency within a family.
                    continue;
                }
                let step = (module[..=common].to_vec(), definer[..=common].to_vec());
                let level = levels.entry(module[..common].to_vec()).or_default();
                level
                    .entry(step)
                    .or_insert_with(|| format!("{}:{line} names {}", file.path, names.join("::")));
            }
        }
        levels
            .iter()
            .flat_map(|(parent, steps)| circles_of(parent, steps))
            .collect()
    }
}

/// Submodules that depend on each other in a cycle.
#[derive(Debug)]
pub struct Circle {
    /// Their parent module.
    pub parent: Names,
    /// The dependencies between them, with their locations.
    pub steps: Vec<String>,
}

/// Returns the cycles among the submodules of `parent`.
fn circles_of(parent: &Names, steps: &BTreeMap<(Names, Names), String>) -> Vec<Circle> {
    let mut graph = DiGraph::<&Names, &str>::new();
    let mut nodes: BTreeMap<&Names, NodeIndex> = BTreeMap::new();
    for ((from, to), place) in steps {
        let [from, to] = [from, to].map(|module| {
            *nodes
                .entry(module)
                .or_insert_with(|| graph.add_node(module))
        });
        graph.add_edge(from, to, place);
    }
    let several = tarjan_scc(&graph)
        .into_iter()
        .filter(|circle| circle.len() > 1);
    several
        .map(|circle| {
            let inside = steps.iter().filter(|((from, to), _)| {
                circle.contains(&nodes[from]) && circle.contains(&nodes[to])
            });
            Circle {
                parent: parent.clone(),
                steps: inside.map(|(_, place)| place.clone()).collect(),
            }
        })
        .collect()
}
