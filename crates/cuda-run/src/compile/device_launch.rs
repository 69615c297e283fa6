//! Launches in device code, `kernel<<<grid, block>>>(arguments)`, which clang rejects: finds one in a source text, and
//! rewrites it as an expression of `cuda_device_runtime_api.h`.
//!
//! The expression names the kernel in a template argument. If the arguments of the launch select the kernel, among
//! overloads or instances of a template, a function that is declared next to each kernel selects it instead: its
//! parameters are the kernel's, and its result is the type of the launch.

use std::ops::Range;

use super::scan::{enclosed_len, identifier_len, is_identifier_part, tokens};

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
pub fn declare_selector(text: &str, offset: usize) -> Option<(usize, String)> {
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
