//! What clang says, each thing once: a file is compiled for the GPU and for the host, and both passes find
//! the same mistakes.

/// The messages of two passes, those of the second that the first has not.
pub fn merged(first: &str, second: &str) -> String {
    let known: Vec<String> = pieces(first)
        .into_iter()
        .map(|piece| plain(&piece))
        .collect();
    let mut text = pieces(first).concat();
    for piece in pieces(second) {
        if !known.contains(&plain(&piece)) {
            text += &piece;
        }
    }
    text
}

/// A text in messages: each begins where a place or clang itself is named, without its lines of counts.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut after_head = false;
    for line in text.split_inclusive('\n') {
        let bare = plain(line);
        if is_count(bare.trim_end()) {
            continue;
        }
        let is_head = bare.starts_with("In file included from");
        let is_message = is_head
            || [": error: ", ": fatal error: ", ": warning: "]
                .iter()
                .any(|kind| bare.contains(kind));
        match pieces.last_mut() {
            Some(last) if !is_message || after_head => *last += line,
            _ => pieces.push(line.to_owned()),
        }
        after_head = is_head;
    }
    pieces
}

/// `2 errors generated when compiling for sm_86.`
fn is_count(line: &str) -> bool {
    line.contains(" generated")
        && line.starts_with(|first: char| first.is_ascii_digit())
        && line.ends_with('.')
}

/// Without colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(one) = characters.next() {
        if one == '\u{1b}' {
            // A colour ends with its letter.
            let _ = characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(one);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARNING: &str = "a.cu:3:7: warning: unused\n  int x;\n      ^\n";
    const ERROR: &str =
        "In file included from a.cu:1:\n./b.h:1:2: error: no\n  no\n  ^\n./b.h:9:1: note: here\n";

    #[test]
    fn what_both_say_is_said_once() {
        let device =
            format!("{WARNING}{ERROR}1 warning and 1 error generated when compiling for sm_86.\n");
        let host = format!("{ERROR}{WARNING}1 error generated when compiling for host.\n");
        assert_eq!(merged(&device, &host), format!("{WARNING}{ERROR}"));
        assert_eq!(merged("", &host), format!("{ERROR}{WARNING}"));
        let coloured = WARNING.replace("warning: ", "\u{1b}[0;1;35mwarning: \u{1b}[0m");
        assert_eq!(merged(&coloured, WARNING), coloured);
    }

    #[test]
    fn messages_of_one_pass_alone_stay() {
        let other = WARNING.replace(":3:", ":4:");
        assert_eq!(merged(WARNING, &other), format!("{WARNING}{other}"));
    }
}
