//! Links in Markdown, spelled out for terminals.

use crate::lang::Lang;

/// Replaces each Markdown link by its words followed by its target in parentheses. Paths are resolved
/// relative to `folder`, and fragments are dropped, because terminals open whole files.
pub fn spell_out(markdown: &str, folder: &str, lang: Lang) -> String {
    let [open, close] = lang.pick([" (", ")"], ["（", "）"]);
    let mut output = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(link) = first(rest) {
        let address = address(link.target, folder);
        output += &format!("{}{}{open}{address}{close}", link.before, link.words);
        rest = link.after;
    }
    output + rest
}

/// A link and the text around it.
struct Link<'a> {
    before: &'a str,
    words: &'a str,
    target: &'a str,
    after: &'a str,
}

fn first(text: &str) -> Option<Link<'_>> {
    text.match_indices("](").find_map(|(middle, _)| {
        let (before, words) = text[..middle].rsplit_once('[')?;
        let (target, after) = text[middle + 2..].split_once(')')?;
        // `a[i](b)` in backticks is code, not a link.
        let is_code = before.matches('`').count() % 2 == 1;
        let is_link = !is_code && !target.is_empty() && !target.contains(char::is_whitespace);
        is_link.then_some(Link {
            before,
            words,
            target,
            after,
        })
    })
}

fn address(target: &str, folder: &str) -> String {
    if target.contains("://") {
        return target.to_owned();
    }
    let file = target.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in file.split('/') {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_spelled_out_as_words_and_target() {
        let here = "kernels/exercises/01-first-thread";
        let spelled_out = |text: &str, lang| spell_out(text, here, lang);
        assert_eq!(
            spelled_out(
                "See [`a`](../../../docs/a.md) and [the\nnote](../../../docs/n.md#one).",
                Lang::En
            ),
            "See `a` (docs/a.md) and the\nnote (docs/n.md)."
        );
        assert_eq!(
            spelled_out("见[笔记](../../../docs/n.md#一-二)。", Lang::Zh),
            "见笔记（docs/n.md）。"
        );
        assert_eq!(
            spelled_out("[CUDA](https://example.com/a#b)", Lang::En),
            "CUDA (https://example.com/a#b)"
        );
        assert_eq!(
            spell_out("[x](../../y.md)", "../course", Lang::En),
            "x (../../y.md)"
        );
    }

    #[test]
    fn lookalikes_of_links_are_unchanged() {
        for text in [
            "`out[x](y)` and `a[i]`",
            "in [x] (y)",
            "[x](y z)",
            "[x](",
            "](y)",
        ] {
            assert_eq!(spell_out(text, "a", Lang::En), text);
        }
    }
}
