//! Sources that nvcc compiles and clang rejects.
//!
//! A program is first compiled as it is. If clang reports an error of a known kind, the text at that place is
//! repaired and the file compiled again. No file of the user changes: clang reads the repaired text through an overlay
//! of the file system, under the original name.
//!
//! A launch in device code, `kernel<<<grid, block>>>(arguments)`, becomes an expression of `cuda_device_runtime_api.h`, which
//! names the kernel in a template argument. If the arguments of the launch select the kernel, among overloads or instances of
//! a template, a function that is declared next to each kernel selects it instead: its parameters are the kernel's, and its
//! result is the type of the launch.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::scan::{enclosed_len, identifier_len, is_identifier_part, tokens};

/// The repairs of one source file and the headers that it includes.
#[derive(Default)]
pub struct Repairs {
    /// The repaired text of each file.
    texts: BTreeMap<PathBuf, String>,
    /// The warnings that replace errors.
    pub warnings: String,
    /// True if the program has texture or surface references, which CUDA 12 removed.
    has_references: bool,
}

/// A message of clang: its location, kind and text.
#[derive(Debug, PartialEq, Eq)]
struct Message<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    kind: &'a str,
    text: &'a str,
}

/// A replacement of a part of a file.
struct Edit {
    file: PathBuf,
    range: Range<usize>,
    replacement: String,
}

impl Repairs {
    /// Repairs the places that clang's messages name. Returns false if there is nothing to repair.
    pub fn add(&mut self, messages: &str) -> bool {
        let parsed: Vec<Message> = messages.lines().filter_map(parse_message).collect();
        let mut edits: Vec<Edit> = Vec::new();
        let mut changed = false;
        for (index, error) in parsed.iter().enumerate() {
            if !error.kind.ends_with("error") {
                continue;
            }
            let notes = parsed[index + 1..].iter();
            let notes: Vec<&Message> = notes.take_while(|message| message.kind == "note").collect();
            if ["texture", "surface"]
                .iter()
                .any(|name| error.text == format!("no template named '{name}'"))
            {
                changed |= !self.has_references;
                self.has_references = true;
            }
            edits.extend(self.edits(error, &notes));
        }
        // From the end of a file to its start, so that earlier positions stay valid.
        edits.sort_by_key(|edit| (edit.file.clone(), std::cmp::Reverse(edit.range.start)));
        edits.dedup_by_key(|edit| (edit.file.clone(), edit.range.start));
        for edit in edits {
            if let Some(text) = self.texts.get_mut(&edit.file) {
                text.replace_range(edit.range, &edit.replacement);
                changed = true;
            }
        }
        changed
    }

    /// Returns the edits for one error.
    fn edits(&mut self, error: &Message, notes: &[&Message]) -> Vec<Edit> {
        // Errors in a macro have a note for each expansion.
        let expansions = notes
            .iter()
            .filter(|note| note.text.starts_with("expanded from macro"));
        let places = || std::iter::once(error).chain(expansions.clone().copied());
        if error.text == "expected expression" {
            let joined = places().flat_map(|place| self.join_launches(place));
            let mut edits: Vec<Edit> = joined.collect();
            edits.extend(places().filter_map(|place| self.name_dimensions(place)));
            edits
        } else if error.text.starts_with("reference to __global__ function") {
            places()
                .filter_map(|place| self.launch_on_device(place, false))
                .collect()
        } else if error.text.starts_with("no matching function for call to") {
            let is_kernel =
                |note: &&&Message| note.text.contains("call to __global__ function from");
            let kernels: Vec<&Message> = notes.iter().filter(is_kernel).copied().collect();
            if kernels.is_empty() {
                return Vec::new();
            }
            let launches = places().filter_map(|place| self.launch_on_device(place, true));
            let mut edits: Vec<Edit> = launches.collect();
            edits.extend(
                kernels
                    .iter()
                    .filter_map(|note| self.declare_selector(note)),
            );
            edits
        } else if error.text == "expected ')'" {
            places()
                .filter_map(|place| self.insert_comma(place))
                .collect()
        } else if error.text == "invalid % escape in inline assembly string" {
            places()
                .filter_map(|place| self.double_percent(place))
                .collect()
        } else if error.text.starts_with("__host__ function '")
            && (error.text).contains("' cannot overload __host__ __device__ function '")
        {
            self.repeat_specifiers(error).into_iter().collect()
        } else if error.text.ends_with("cannot appear here")
            || error.text == "'alignas' attribute cannot be applied to types"
        {
            places()
                .filter_map(|place| self.replace_alignas(place))
                .collect()
        } else if error.text.starts_with("reference to __host__ variable") {
            let declarations = notes.iter();
            declarations
                .filter(|note| note.text == "host variable declared here")
                .filter_map(|note| self.declare_reference(note))
                .collect()
        } else if error
            .text
            .contains("initialization is not supported for __shared__")
        {
            self.omit_constructor(error).into_iter().collect()
        } else {
            Vec::new()
        }
    }

    /// Returns the current text of a file and the offset of this location in it.
    fn locate(&mut self, message: &Message) -> Option<(PathBuf, &str, usize)> {
        let file = std::path::absolute(message.file).ok()?;
        if !self.texts.contains_key(&file) {
            self.texts
                .insert(file.clone(), fs::read_to_string(&file).ok()?);
        }
        let text = &self.texts[&file];
        let line_start: usize = text
            .split_inclusive('\n')
            .take(message.line.checked_sub(1)?)
            .map(str::len)
            .sum();
        let offset = line_start + message.column.checked_sub(1)?;
        text.is_char_boundary(offset)
            .then_some((file, text, offset))
    }

    /// Joins `k << <1, 1 >> > (p)`, which code formatters write, in the whole file.
    fn join_launches(&mut self, error: &Message) -> Vec<Edit> {
        let Some((file, text, offset)) = self.locate(error) else {
            return Vec::new();
        };
        if !text[offset..].starts_with(['<', '>']) {
            return Vec::new();
        }
        split_brackets(text)
            .into_iter()
            .map(|range| {
                let (brackets, blanks): (String, String) = text[range.clone()]
                    .chars()
                    .partition(|c| matches!(c, '<' | '>'));
                Edit {
                    file: file.clone(),
                    range,
                    replacement: brackets + &blanks,
                }
            })
            .collect()
    }

    /// Names the type of a launch's dimensions that are written in braces: `k<<<blocks, {32, 8}>>>(p)`.
    fn name_dimensions(&mut self, error: &Message) -> Option<Edit> {
        let (file, text, offset) = self.locate(error)?;
        let launch = text[..offset].rfind("<<<")?;
        let is_argument = text[launch..offset].trim_ascii_end().ends_with(['<', ',']);
        let is_in_launch = !text[launch..offset].contains([';', '>']);
        (text[offset..].starts_with('{') && is_argument && is_in_launch).then(|| Edit {
            file,
            range: offset..offset,
            replacement: "dim3".to_owned(),
        })
    }

    /// Rewrites the launch of a kernel by device code. `is_selected` is true if the arguments may select the kernel.
    fn launch_on_device(&mut self, error: &Message, is_selected: bool) -> Option<Edit> {
        let (file, text, offset) = self.locate(error)?;
        let launch = DeviceLaunch::parse(text, offset)?;
        Some(Edit {
            file,
            range: launch.range.clone(),
            replacement: match is_selected && !launch.is_instance() {
                true => launch.rewritten_by_arguments(),
                false => launch.rewritten(),
            },
        })
    }

    /// Declares the function by which the arguments of a launch select a kernel.
    fn declare_selector(&mut self, note: &Message) -> Option<Edit> {
        let (file, text, offset) = self.locate(note)?;
        let (start, replacement) = declare_selector(text, offset)?;
        Some(Edit {
            file,
            range: start..start,
            replacement,
        })
    }

    /// Inserts the comma that separates two operands of inline assembly: `"r"(a) "l"(p)`.
    fn insert_comma(&mut self, error: &Message) -> Option<Edit> {
        let (file, text, offset) = self.locate(error)?;
        let before = text[..offset].trim_ascii_end();
        let is_operand = text[offset..].starts_with('"') && before.ends_with(')');
        (is_operand && is_in_assembly(before)).then(|| Edit {
            file,
            // Replaces a blank, so that the columns stay.
            range: before.len()..(before.len() + 1).min(offset),
            replacement: if text[before.len()..offset].starts_with('\n') {
                ",\n".to_owned()
            } else {
                ",".to_owned()
            },
        })
    }

    /// Writes the `%` of a special register in inline assembly twice, as clang requires: `mov.u64 %0, %globaltimer;`.
    fn double_percent(&mut self, error: &Message) -> Option<Edit> {
        // The error is at the second character after the sign.
        let (file, text, offset) = self.locate(error)?;
        let percent = text[..offset].rfind('%')?;
        let is_register = text[percent + 1..offset].starts_with(|c: char| c.is_ascii_alphabetic());
        (is_register && offset - percent == 2).then(|| Edit {
            file,
            range: percent..percent,
            replacement: "%".to_owned(),
        })
    }

    /// Inserts the specifiers of the function's declaration, which nvcc does not require in its definition.
    fn repeat_specifiers(&mut self, error: &Message) -> Option<Edit> {
        let (file, _, offset) = self.locate(error)?;
        Some(Edit {
            file,
            range: offset..offset,
            replacement: "__host__ __device__ ".to_owned(),
        })
    }

    /// Replaces `alignas` after `__shared__` with `__align__`, which clang accepts there.
    fn replace_alignas(&mut self, error: &Message) -> Option<Edit> {
        let (file, text, offset) = self.locate(error)?;
        text[offset..].starts_with("alignas").then(|| Edit {
            file,
            range: offset..offset + "alignas".len(),
            replacement: "__align__".to_owned(),
        })
    }

    /// Declares a texture or surface reference, `texture<float> image;`, as a variable of the GPU.
    fn declare_reference(&mut self, note: &Message) -> Option<Edit> {
        let (file, text, offset) = self.locate(note)?;
        // The line up to the variable: `static texture<float, 2> `.
        let line_start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let line = &text[line_start..offset];
        let types = ["texture", "surface"].into_iter();
        let start = types
            .filter_map(|name| line.find(&format!("{name}<")))
            .min()?;
        let (before, declaration) = line.split_at(start);
        let is_word = !before.ends_with(is_identifier_part);
        let is_declaration = declaration.trim_ascii_end().ends_with('>');
        let is_repaired = before.contains("__constant__");
        (is_word && is_declaration && !is_repaired && !line.contains("//")).then(|| Edit {
            file,
            range: line_start + start..line_start + start,
            replacement: "__constant__ ".to_owned(),
        })
    }

    /// Declares a `__shared__` object as storage without a constructor: `__shared__ barrier arrived[2];`.
    fn omit_constructor(&mut self, error: &Message) -> Option<Edit> {
        let (file, text, offset) = self.locate(error)?;
        let before = &text[..offset];
        let start = before.rfind("__shared__")? + "__shared__".len();
        let class = before[start..].trim();
        let declarator = text[offset..].split_once(';')?.0;
        let (name, extents) = declarator.split_at(identifier_len(declarator));
        let is_simple = |text: &str| !text.contains(['(', '{', '=', ';']);
        // A comma separates arguments of a template, not two variables.
        let is_one = !class.contains(',') || class.ends_with('>');
        if !is_simple(class) || !is_simple(extents) || extents.contains(',') || !is_one {
            return None;
        }
        let edit = Edit {
            file,
            range: start..offset + declarator.len(),
            replacement: format!(
                " warpbook_unconstructed<{class}{extents}> {name}_storage; auto &{name} = {name}_storage.value"
            ),
        };
        let warning = format!(
            "{}:{}:{}: warning: the constructor of `{name}` never runs, because the object is in shared memory; \
             initialize it in the kernel\n",
            error.file, error.line, error.column
        );
        // Each instantiation of a template reports it.
        if !self.warnings.contains(&warning) {
            self.warnings += &warning;
        }
        Some(edit)
    }

    /// Writes the repaired files to this directory, and returns the arguments with which clang reads them.
    pub fn args(&self, dir: &Path) -> Result<Vec<OsString>> {
        let mut args: Vec<OsString> = Vec::new();
        if self.has_references {
            args.push("-DWARPBOOK_REFERENCES".into());
        }
        if self.texts.is_empty() {
            return Ok(args);
        }
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let mut roots = Vec::new();
        for (number, (file, text)) in self.texts.iter().enumerate() {
            let copy = dir.join(format!("repaired-{number}"));
            write(&copy, text)?;
            roots.push(json!({"type": "file", "name": file, "external-contents": copy}));
        }
        let overlay = dir.join("overlay.yaml");
        let description = json!({"version": 0, "use-external-names": false, "roots": roots});
        write(&overlay, &description.to_string())?;
        args.extend(["-ivfsoverlay".into(), overlay.into()]);
        Ok(args)
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Returns true if a text ends inside of the parentheses of `asm(…)`.
fn is_in_assembly(text: &str) -> bool {
    let statement = text.rfind("asm").map_or("", |start| &text[start..]);
    let mut depth = 0;
    for (_, token) in tokens(statement) {
        match token {
            "(" => depth += 1,
            ")" if depth == 1 => return false,
            ")" => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

/// Parses `main.cu:3:7: error: …`.
fn parse_message(line: &str) -> Option<Message<'_>> {
    let kinds = ["error", "fatal error", "warning", "note"];
    let (location, kind, text) = kinds.iter().find_map(|kind| {
        let (location, text) = line.split_once(&format!(": {kind}: "))?;
        Some((location, *kind, text))
    })?;
    let mut parts = location.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Message {
        file: parts.next()?,
        line,
        column,
        kind,
        text,
    })
}

/// Finds the brackets of launches that blanks split: `<< <` and the `>> >` that follows it in the same statement.
fn split_brackets(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut in_launch = false;
    let mut end = 0;
    for (start, token) in tokens(text) {
        match token {
            "<" | ">" if start >= end => {
                let len = brackets_len(&text.as_bytes()[start..]);
                end = start + len;
                let brackets = &text[start..end];
                if brackets.matches(token).count() == 3 {
                    let is_operator = text[..start].trim_end().ends_with("operator");
                    if len > 3 && !is_operator && (token == "<" || in_launch) {
                        ranges.push(start..end);
                    }
                    in_launch = token == "<" && !is_operator;
                }
            }
            ";" => in_launch = false,
            _ => {}
        }
    }
    ranges
}

/// Returns the length of up to three equal brackets, and the blanks between them, with which a text starts.
fn brackets_len(bytes: &[u8]) -> usize {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let mut end = 1;
    for _ in 0..2 {
        let blanks = bytes[end..]
            .iter()
            .take_while(|byte| is_blank(byte))
            .count();
        if bytes.get(end + blanks) != bytes.first() {
            break;
        }
        end += blanks + 1;
    }
    end
}

/// A launch in a source text.
pub struct DeviceLaunch<'a> {
    /// The range of the text from the kernel's name to the end of the configuration.
    pub range: Range<usize>,
    name: &'a str,
    /// The part of the name before its last identifier, such as `sorting::`.
    qualifier: &'a str,
    /// The last identifier of the name.
    identifier: &'a str,
    configuration: &'a str,
    arguments: &'a str,
}

impl<'a> DeviceLaunch<'a> {
    /// Parses the launch of the kernel whose name contains `offset`, at the start of one of its identifiers. Returns `None`
    /// if there is none.
    pub fn parse(text: &'a str, offset: usize) -> Option<DeviceLaunch<'a>> {
        let start = qualified_start(text, offset);
        let mut offset = offset;
        let mut identifier = offset + identifier_len(&text[offset..]);
        while text[identifier..].starts_with("::") {
            offset = identifier + "::".len();
            identifier = offset + identifier_len(&text[offset..]);
        }
        let mut end = identifier;
        let rest = text[end..].trim_ascii_start();
        if rest.starts_with('<') && !rest.starts_with("<<<") {
            end = text.len() - rest.len();
            end += "<".len() + enclosed_len(&rest["<".len()..], ">")? + ">".len();
        }
        let after = text[end..].trim_ascii_start().strip_prefix("<<<")?;
        let (configuration, after) = after.split_at(enclosed_len(after, ">>>")?);
        let after = &after[">>>".len()..];
        let arguments = after.trim_ascii_start().strip_prefix('(')?;
        let arguments = &arguments[..enclosed_len(arguments, ")")?];
        (identifier > offset).then(|| DeviceLaunch {
            range: start..text.len() - after.len(),
            name: &text[start..end],
            qualifier: &text[start..offset],
            identifier: &text[offset..identifier],
            configuration,
            arguments,
        })
    }

    /// Returns true if the name has template arguments.
    pub fn is_instance(&self) -> bool {
        self.name.ends_with('>')
    }

    /// Returns the text that replaces the launch up to its arguments.
    pub fn rewritten(&self) -> String {
        format!(
            "WARPBOOK_DEVICE_LAUNCH({})({})",
            self.name, self.configuration
        )
    }

    /// Same as [`DeviceLaunch::rewritten`], for a kernel that the arguments select.
    pub fn rewritten_by_arguments(&self) -> String {
        let DeviceLaunch {
            qualifier,
            identifier,
            configuration,
            arguments,
            ..
        } = self;
        format!("decltype({qualifier}{SELECTOR}{identifier}({arguments}))({configuration})")
    }
}

/// The prefix of the functions that select kernels.
const SELECTOR: &str = "warpbook_launch_of_";

/// Declares the function that selects the kernel whose name is at `offset` in its declaration. Returns the start of the
/// declaration, and the text to insert there. Returns `None` if the declaration is not understood or has its function.
fn declare_selector(text: &str, offset: usize) -> Option<(usize, String)> {
    // The declaration starts with the first suitable line after the previous one. Directives may lie between them.
    let (mut start, mut is_line_start) = (None, true);
    for (at, token) in tokens(&text[..offset]) {
        match token {
            ";" | "{" | "}" => (start, is_line_start) = (None, true),
            "\n" => is_line_start = true,
            _ if is_line_start && !token.trim_ascii().is_empty() => {
                is_line_start = false;
                let line = text[at..offset].lines().next().unwrap_or_default();
                if line.starts_with("template") || line.contains("__global__") {
                    start = start.or(Some(at));
                }
            }
            _ => {}
        }
    }
    let start = start?;
    let header = &text[start..offset];
    let name = &text[offset..][..identifier_len(&text[offset..])];
    let after = text[offset + name.len()..].trim_ascii_start();
    let parameters = after.strip_prefix('(')?;
    let parameters = &parameters[..enclosed_len(parameters, ")")?];
    let parameters = items(parameters, false).join(", ");
    let (mut template, mut selector_template) = (String::new(), String::new());
    let mut instance = name.to_owned();
    let mut specifiers = header;
    if let Some(rest) = header.strip_prefix("template") {
        let list = rest.trim_ascii_start().strip_prefix('<')?;
        let (list, after) = list.split_at(enclosed_len(list, ">")?);
        specifiers = &after[">".len()..];
        let declared = items(list, false);
        let names: Vec<String> = declared.iter().map(|item| parameter_name(item)).collect();
        // The kernel's own declaration follows, and only one may have the default arguments.
        template = format!("template <{}> ", declared.join(", "));
        selector_template = format!("template <{}> ", items(list, true).join(", "));
        instance = format!("{name}<{}>", names.join(", "));
    }
    let specifiers = items(specifiers, false).join(", ");
    let inserted = format!(
        "{template}{specifiers} {name}({parameters}); {selector_template}__device__ auto {SELECTOR}{name}({parameters}) -> \
         warpbook_device_launch<void({parameters}), {instance}>; "
    );
    (!text[..start].ends_with(&inserted)).then_some((start, inserted))
}

/// Returns the items of a list of parameters on one line each, without comments.
fn items(list: &str, has_defaults: bool) -> Vec<String> {
    let mut items = vec![String::new()];
    let (mut depth, mut is_default) = (0, false);
    for (_, token) in tokens(list) {
        match token {
            "(" | "<" | "[" | "{" => depth += 1,
            ")" | ">" | "]" | "}" => depth -= 1,
            "=" if depth == 0 => is_default = !has_defaults,
            "," if depth == 0 => {
                is_default = false;
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let (false, Some(item)) = (is_default, items.last_mut()) {
            *item += if token.trim_ascii().is_empty() {
                " "
            } else {
                token
            };
        }
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

/// Returns the name of a template parameter, such as `T` of `class T` and `T...` of `class... T`.
fn parameter_name(parameter: &str) -> String {
    let name = &parameter[parameter.trim_end_matches(is_identifier_part).len()..];
    match parameter.contains("...") {
        true => format!("{name}..."),
        false => name.to_owned(),
    }
}

/// Returns the start of the qualified name, such as `sorting::merge`, whose last part starts at `offset`.
fn qualified_start(text: &str, offset: usize) -> usize {
    let mut start = offset;
    while let Some(before) = text[..start].strip_suffix("::") {
        start = before.trim_end_matches(is_identifier_part).len();
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repairs `text` according to `messages`, which call the file FILE. Returns the new text.
    fn repaired(text: &str, messages: &str) -> Option<String> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("a.cu");
        fs::write(&file, text).expect("a source file");
        let mut repairs = Repairs::default();
        let changed = repairs.add(&messages.replace("FILE", &file.to_string_lossy()));
        changed.then(|| repairs.texts[&file].clone())
    }

    #[test]
    fn a_split_launch_is_joined_and_other_text_kept() {
        let text = "// << < a\nk << <1, 1 >> > (p);\nA<B<C<int>> > a; s = \"<< <\"; c = '\"';\n\
                    operator<< <T>(a, b); k < < < n, 2>>> (p);\n";
        let joined = "// << < a\nk <<< 1, 1 >>>  (p);\nA<B<C<int>> > a; s = \"<< <\"; c = '\"';\n\
                      operator<< <T>(a, b); k <<<   n, 2>>> (p);\n";
        let error = "FILE:2:6: error: expected expression\n";
        assert_eq!(repaired(text, error).as_deref(), Some(joined));
        assert_eq!(repaired(joined, error), None);
        assert_eq!(
            repaired("a = ;\n", "FILE:1:5: error: expected expression\n"),
            None
        );
    }

    #[test]
    fn dimensions_in_braces_are_named() {
        let repair = |text: &str, brace: &str| {
            let column = text.find(brace).expect("a brace") + 1;
            repaired(
                text,
                &format!("FILE:1:{column}: error: expected expression\n"),
            )
        };
        let text = "k<<<blocks, {32, 8}>>>(p);\n";
        let expected = "k<<<blocks, dim3{32, 8}>>>(p);\n";
        assert_eq!(repair(text, "{").as_deref(), Some(expected));
        assert_eq!(repair("k<<<1, 1>>>({2});\n", "{"), None);
        assert_eq!(repair("k<<<a + {1}, 1>>>(p);\n", "{"), None);
    }

    #[test]
    fn operands_of_inline_assembly_are_separated() {
        let error = "FILE:1:16: error: expected ')'\n";
        let text = "asm(\"\" :: \"r\"(7) \"l\"(p));\n";
        let expected = text.replace(") \"l\"", "),\"l\"");
        let column = text.find("\"l\"").expect("the operand") + 1;
        let error = error.replace("16", &column.to_string());
        assert_eq!(repaired(text, &error), Some(expected));
        let adjacent = "asm(\"\" :: \"r\"(7)\"l\"(p));\n";
        let error = error.replace(&column.to_string(), &(column - 1).to_string());
        let expected = "asm(\"\" :: \"r\"(7),\"l\"(p));\n";
        assert_eq!(repaired(adjacent, &error).as_deref(), Some(expected));
        assert_eq!(repaired("f(a;\n", "FILE:1:4: error: expected ')'\n"), None);
        let call = "asm(\"exit;\"); f(g(1) \"a\");\n";
        let column = call.find("\"a\"").expect("the argument") + 1;
        let error = format!("FILE:1:{column}: error: expected ')'\n");
        assert_eq!(repaired(call, &error), None);
    }

    #[test]
    fn an_error_in_a_macro_is_repaired_in_its_definition() {
        let text = "#define A asm(\"\" :: \"r\"(7) \"l\"(p))\nA;\n";
        let column = text.find("\"l\"").expect("the operand") + 1;
        let messages = format!(
            "FILE:2:1: error: expected ')'\nFILE:1:{column}: note: expanded from macro 'A'\n"
        );
        let repaired = repaired(text, &messages).expect("a repair");
        assert!(repaired.contains("(7),\"l\""), "{repaired}");
    }

    #[test]
    fn a_special_register_gets_a_second_percent_sign() {
        let text = "asm(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t));\n";
        let column = text.find("lobaltimer").expect("the register") + 1;
        let error = format!("FILE:1:{column}: error: invalid % escape in inline assembly string\n");
        let expected = text.replace("%g", "%%g");
        assert_eq!(repaired(text, &error), Some(expected));
        let placeholder = text.replace("%g", "%5g");
        assert_eq!(repaired(&placeholder, &error), None);
    }

    #[test]
    fn a_definition_repeats_the_specifiers_of_its_declaration() {
        let error = "FILE:3:5: error: __host__ function 'twice' cannot overload __host__ __device__ function 'twice'\n";
        let text = "__host__ __device__ int twice(int);\n\nint twice(int x) { return 2 * x; }\n";
        let expected = text.replace("\nint twice", "\nint __host__ __device__ twice");
        assert_eq!(repaired(text, error), Some(expected));
        let other = error.replace("__host__ __device__", "__device__");
        assert_eq!(repaired(text, &other), None);
    }

    #[test]
    fn shared_objects_and_references_are_redeclared() {
        let error = "FILE:1:21: error: initialization is not supported for __shared__ variables.\n";
        assert_eq!(
            repaired("__shared__ barrier  a[2];\n", error).as_deref(),
            Some(
                "__shared__ warpbook_unconstructed<barrier[2]> a_storage; auto &a = a_storage.value;\n"
            )
        );
        assert_eq!(
            repaired("__shared__ pair<A, B>   a;\n", &error.replace("21", "25")).as_deref(),
            Some(
                "__shared__ warpbook_unconstructed<pair<A, B>> a_storage; auto &a = a_storage.value;\n"
            )
        );
        for text in ["__shared__ barrier  a = {};\n", "__shared__ B x,     a;\n"] {
            assert_eq!(repaired(text, error), None);
        }
        let error = "FILE:9:1: error: reference to __host__ variable 'in' in __global__ function\n\
                     FILE:1:23: note: host variable declared here\n";
        let text = "static texture<float> in;\n";
        let expected = format!("static __constant__ {}", &text["static ".len()..]);
        assert_eq!(repaired(text, error), Some(expected));
        for text in [
            "texture<int> a; float in;\n",
            "// texture k<int>\nfloat scale, in;\n",
            "my_texture<float>     in;\n",
            "__constant__ texture<float> in;\n",
        ] {
            assert_eq!(repaired(text, error), None, "{text}");
        }
    }

    #[test]
    fn other_errors_change_nothing() {
        for messages in [
            "FILE:1:1: error: unknown type name 'x'\n",
            "FILE:1:1: warning: expected expression\n",
            "FILE:9:1: error: expected expression\n",
            "nowhere.cu:1:1: error: expected expression\n",
            "clang: error: expected expression\n",
        ] {
            assert_eq!(repaired("x y;\n", messages), None, "{messages}");
        }
    }

    #[test]
    fn a_message_has_a_location() {
        let parsed = parse_message("a:b.cu:3:7: error: no: such").expect("a message");
        let expected = ("a:b.cu", 3, 7, "error", "no: such");
        let Message {
            file,
            line,
            column,
            kind,
            text,
        } = parsed;
        assert_eq!((file, line, column, kind, text), expected);
        assert_eq!(parse_message("clang: error: none"), None);
    }

    fn rewritten(text: &str, name: &str) -> Option<String> {
        let launch = DeviceLaunch::parse(text, text.find(name)?)?;
        let mut result = text.to_owned();
        result.replace_range(launch.range.clone(), &launch.rewritten());
        Some(result)
    }

    #[test]
    fn a_launch_is_rewritten() {
        for (text, expected) in [
            ("a::k<<<1>>>(k);", "WARPBOOK_DEVICE_LAUNCH(a::k)(1)(k);"),
            ("k<<<1, n>>>(p);", "WARPBOOK_DEVICE_LAUNCH(k)(1, n)(p);"),
            (
                "a::b::k <A<int>, 2>\n<<<dim3(n >> 1, f(\">>>\")), 1>>> (p);",
                "WARPBOOK_DEVICE_LAUNCH(a::b::k <A<int>, 2>)(dim3(n >> 1, f(\">>>\")), 1) (p);",
            ),
        ] {
            assert_eq!(rewritten(text, "k").as_deref(), Some(expected));
            assert_eq!(rewritten(text, &text[..1]).as_deref(), Some(expected));
        }
        for text in [
            "k(p);",
            "k<int>(p);",
            "k<<<1, n",
            "k<<<1, (1>>>(p);",
            "k << n",
            "k<<<1, 1>>>;",
            "k",
        ] {
            assert_eq!(rewritten(text, "k"), None, "{text}");
        }
    }

    #[test]
    fn arguments_select_the_kernel() {
        let text = "a::k<<<1, 2>>>(p, f(1, 2));";
        let launch = DeviceLaunch::parse(text, 3).unwrap();
        let expected = "decltype(a::warpbook_launch_of_k(p, f(1, 2)))(1, 2)";
        assert_eq!(launch.rewritten_by_arguments(), expected);
        let declaration = "template <class T, int N = 4, class... U> // n; m\n\
                           __global__ void k(T *p, /* size */ int n = f(1, 2),\n U... u) {}\n";
        let text = format!("int n; /* k; */\n#define A ';'\n{declaration}");
        let (start, inserted) = declare_selector(&text, text.find("k(").unwrap()).unwrap();
        assert!(text[start..].starts_with(declaration));
        let header = "template <class T, int N, class... U> ";
        let selector = "template <class T, int N = 4, class... U> ";
        let parameters = "(T *p, int n, U... u)";
        let expected = format!(
            "{header}__global__ void k{parameters}; {selector}__device__ auto warpbook_launch_of_k{parameters} -> \
             warpbook_device_launch<void{parameters}, k<T, N, U...>>; "
        );
        assert_eq!(inserted, expected);
        let mut declared = text.clone();
        declared.insert_str(start, &inserted);
        assert_eq!(
            declare_selector(&declared, declared.rfind("k(T").unwrap()),
            None
        );
        let overload = "static __global__ void k(int *p);";
        let (start, inserted) = declare_selector(overload, 23).unwrap();
        let expected = "static __global__ void k(int *p); __device__ auto warpbook_launch_of_k(int *p) -> \
                        warpbook_device_launch<void(int *p), k>; ";
        assert_eq!((start, &*inserted), (0, expected));
    }
}
