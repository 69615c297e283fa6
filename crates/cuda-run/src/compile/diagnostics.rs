//! clang's messages without duplicates. A file is compiled for the GPU and for the host, and both passes
//! report the same errors.

/// Appends those messages of the second pass that the first does not contain.
pub fn merge(first: &str, second: &str) -> String {
    let known_messages: Vec<String> = split_messages(first)
        .into_iter()
        .map(|message| strip_colors(&message))
        .collect();
    let mut text = split_messages(first).concat();
    for message in split_messages(second) {
        if !known_messages.contains(&strip_colors(&message)) {
            text += &message;
        }
    }
    text
}

/// Splits clang's output into messages, each starting with a location or clang's name, and drops summary lines.
fn split_messages(text: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut follows_include = false;
    for line in text.split_inclusive('\n') {
        let plain_line = strip_colors(line);
        if is_summary_line(plain_line.trim_end()) {
            continue;
        }
        let is_include_line = plain_line.starts_with("In file included from");
        let is_message = is_include_line
            || [": error: ", ": fatal error: ", ": warning: "]
                .iter()
                .any(|kind| plain_line.contains(kind));
        match messages.last_mut() {
            Some(last) if !is_message || follows_include => *last += line,
            _ => messages.push(line.to_owned()),
        }
        follows_include = is_include_line;
    }
    messages
}

/// Returns true for lines such as `2 errors generated when compiling for sm_86.`
fn is_summary_line(line: &str) -> bool {
    line.contains(" generated")
        && line.starts_with(|first: char| first.is_ascii_digit())
        && line.ends_with('.')
}

/// Removes terminal color sequences.
fn strip_colors(text: &str) -> String {
    let mut stripped = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // A color sequence ends with its first letter.
            let _ = chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            stripped.push(c);
        }
    }
    stripped
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARNING: &str = "a.cu:3:7: warning: unused\n  int x;\n      ^\n";
    const ERROR: &str =
        "In file included from a.cu:1:\n./b.h:1:2: error: no\n  no\n  ^\n./b.h:9:1: note: here\n";

    #[test]
    fn a_message_of_both_passes_appears_once() {
        let device =
            format!("{WARNING}{ERROR}1 warning and 1 error generated when compiling for sm_86.\n");
        let host = format!("{ERROR}{WARNING}1 error generated when compiling for host.\n");
        assert_eq!(merge(&device, &host), format!("{WARNING}{ERROR}"));
        assert_eq!(merge("", &host), format!("{ERROR}{WARNING}"));
        let coloured = WARNING.replace("warning: ", "\u{1b}[0;1;35mwarning: \u{1b}[0m");
        assert_eq!(merge(&coloured, WARNING), coloured);
    }

    #[test]
    fn messages_of_one_pass_are_kept() {
        let other = WARNING.replace(":3:", ":4:");
        assert_eq!(merge(WARNING, &other), format!("{WARNING}{other}"));
    }
}
