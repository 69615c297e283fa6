//! Finds the paths that a file names.

use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, Meta, MetaList, Token, UseTree};

/// The absolute path of a module or an item: `["exec", "ops", "Form"]`.
pub type ItemPath = Vec<String>;

/// A path in a file.
pub struct Mention {
    pub line: usize,
    /// The path from the crate's root.
    pub names: ItemPath,
    /// True if the path starts with an imported name. The import itself is a separate mention.
    pub is_imported: bool,
}

/// Reads one file.
pub struct Reader {
    /// The module being read: that of the file, or an inline module in it.
    module: ItemPath,
    /// Modules in files of their own.
    pub files: Vec<ItemPath>,
    /// All modules that the file declares.
    declared: BTreeSet<ItemPath>,
    /// The file's imports, by the paths of their local names.
    pub imports: BTreeMap<ItemPath, ItemPath>,
    pub mentions: Vec<Mention>,
}

impl Reader {
    /// Creates a reader for the file of `module` with these items. Collects the declarations and imports, but
    /// not yet the mentions.
    pub fn new(module: &ItemPath, items: &[Item]) -> Reader {
        let mut reader = Reader {
            module: module.clone(),
            files: Vec::new(),
            declared: BTreeSet::new(),
            imports: BTreeMap::new(),
            mentions: Vec::new(),
        };
        let child_path = |item: &ItemMod| [module.as_slice(), &[item.ident.to_string()]].concat();
        for item in items {
            if let Item::Mod(item) = item
                && !is_test_only(&item.attrs)
            {
                reader.declared.insert(child_path(item));
            }
        }
        // An import may start with the name of another import, including a later one.
        for _ in 0..2 {
            for item in items {
                if let Item::Use(item) = item
                    && !is_test_only(&item.attrs)
                {
                    reader.import(&item.tree, &mut Vec::new());
                }
            }
        }
        reader.mentions.clear();
        reader
    }

    /// Resolves a path to one from the crate's root. Returns `None` for a path into another crate, or one whose
    /// first name the file neither declares nor imports.
    fn resolve(&self, written: &[String]) -> Option<ItemPath> {
        let (first, remaining) = written.split_first()?;
        let mut absolute = match first.as_str() {
            "crate" => ItemPath::new(),
            "self" => self.module.clone(),
            "super" => self.module[..self.module.len().checked_sub(1)?].to_vec(),
            name => {
                let child_path = [self.module.as_slice(), &[name.to_owned()]].concat();
                if self.declared.contains(&child_path) {
                    child_path
                } else {
                    // An inline module may import its parent's names with a glob.
                    let scopes = (0..=self.module.len()).rev();
                    let mut names =
                        scopes.map(|length| [&self.module[..length], &[name.to_owned()]].concat());
                    names.find_map(|name| self.imports.get(&name))?.clone()
                }
            }
        };
        for name in remaining {
            match name.as_str() {
                "super" => drop(absolute.pop()?),
                "self" => {}
                _ => absolute.push(name.clone()),
            }
        }
        Some(absolute)
    }

    /// Records that the file names this path.
    fn mention(&mut self, span: Span, written: &[String]) {
        if let Some(names) = self.resolve(written) {
            let is_relative = ["crate", "self", "super"].contains(&written[0].as_str());
            let child_path = || [self.module.as_slice(), &written[..1]].concat();
            self.mentions.push(Mention {
                line: span.start().line,
                names,
                is_imported: !is_relative && !self.declared.contains(&child_path()),
            });
        }
    }

    /// Records the paths that a `use` names, and their local names.
    fn import(&mut self, tree: &UseTree, before: &mut ItemPath) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before);
                }
            }
            UseTree::Name(name) => self.import_name(&name.ident, &name.ident, before),
            UseTree::Rename(rename) => self.import_name(&rename.ident, &rename.rename, before),
            UseTree::Glob(glob) => self.mention(glob.star_token.spans[0], before),
        }
    }

    /// Records the path of one name in a `use`; `alias` is its local name.
    fn import_name(&mut self, ident: &syn::Ident, alias: &syn::Ident, before: &ItemPath) {
        let written = [before.as_slice(), &[ident.to_string()]].concat();
        self.mention(ident.span(), &written);
        if let Some(names) = self.resolve(&written) {
            let local_name = match alias == "self" {
                true => names.last().cloned().unwrap_or_default(),
                false => alias.to_string(),
            };
            let local_path = [self.module.as_slice(), &[local_name]].concat();
            self.imports.insert(local_path, names);
        }
    }

    /// Records the paths among the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        // The current path with its first token, and the number of colons after it.
        let mut path: Option<(Span, ItemPath)> = None;
        let mut colons = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    match &mut path {
                        Some((_, names)) if colons == 2 => names.push(ident.to_string()),
                        // A path after generics, or into another crate.
                        None if colons == 2 => {}
                        _ => {
                            self.end_of_path(path.take());
                            path = Some((ident.span(), vec![ident.to_string()]));
                        }
                    }
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                _ => {
                    self.end_of_path(path.take());
                    colons = 0;
                }
            }
            if let TokenTree::Group(group) = token {
                self.tokens(group.stream());
            }
        }
        self.end_of_path(path);
    }

    /// Records a path among a macro's tokens. A single name is not a path.
    fn end_of_path(&mut self, path: Option<(Span, ItemPath)>) {
        if let Some((span, names)) = path
            && names.len() > 1
        {
            self.mention(span, &names);
        }
    }
}

impl Visit<'_> for Reader {
    fn visit_item(&mut self, item: &Item) {
        if !is_test_only(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &syn::ImplItemFn) {
        if !is_test_only(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        self.module.push(item.ident.to_string());
        match item.content {
            Some(_) => visit::visit_item_mod(self, item),
            None => self.files.push(self.module.clone()),
        }
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let names: ItemPath = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if names.len() > 1 && path.leading_colon.is_none() {
            self.mention(path.segments[0].ident.span(), &names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &syn::Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }

    fn visit_meta_list(&mut self, list: &syn::MetaList) {
        self.visit_path(&list.path);
        self.tokens(list.tokens.clone());
    }
}

/// Returns true for `#[test]` functions and for items under `#[cfg(test)]`, alone or combined with other
/// conditions.
fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => requires_test(list),
        _ => false,
    })
}

/// Returns true if a condition, `cfg(…)` or `all(…)`, requires `test`.
fn requires_test(condition: &MetaList) -> bool {
    let parts = condition.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parts.into_iter().flatten().any(|part| match &part {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("all") && requires_test(list),
        Meta::NameValue(_) => false,
    })
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
