//! Links in Markdown, spelled out for terminals.

use crate::lang::Lang;

/// Replaces each Markdown link by its words followed by its target in parentheses. Paths are resolved
/// relative to `folder`, and fragments are dropped, because terminals open whole files.
pub fn spelled_out(markdown: &str, folder: &str, lang: Lang) -> String {
    let [open, close] = lang.pick([" (", ")"], ["（", "）"]);
    let mut shown = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(link) = first(rest) {
        let address = address(link.target, folder);
        shown += &format!("{}{}{open}{address}{close}", link.before, link.words);
        rest = link.behind;
    }
    shown + rest
}

/// A link and the text around it.
struct Link<'a> {
    before: &'a str,
    words: &'a str,
    target: &'a str,
    behind: &'a str,
}

fn first(text: &str) -> Option<Link<'_>> {
    text.match_indices("](").find_map(|(middle, _)| {
        let (before, words) = text[..middle].rsplit_once('[')?;
        let (target, behind) = text[middle + 2..].split_once(')')?;
        // `a[i](b)` in backticks is code, not a link.
        let is_code = before.matches('`').count() % 2 == 1;
        let is_link = !is_code && !target.is_empty() && !target.contains(char::is_whitespace);
        is_link.then_some(Link {
            before,
            words,
            target,
            behind,
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
    fn a_link_is_its_words_and_where_it_leads() {
        let here = "kernels/exercises/01-first-thread";
        let shown = |text: &str, lang| spelled_out(text, here, lang);
        assert_eq!(
            shown(
                "See [`a`](../../../docs/a.md) and [the\nnote](../../../docs/n.md#one).",
                Lang::En
            ),
            "See `a` (docs/a.md) and the\nnote (docs/n.md)."
        );
        assert_eq!(
            shown("见[笔记](../../../docs/n.md#一-二)。", Lang::Zh),
            "见笔记（docs/n.md）。"
        );
        assert_eq!(
            shown("[CUDA](https://example.com/a#b)", Lang::En),
            "CUDA (https://example.com/a#b)"
        );
        assert_eq!(
            spelled_out("[x](../../y.md)", "../course", Lang::En),
            "x (../../y.md)"
        );
    }

    #[test]
    fn what_only_looks_like_a_link_stays() {
        for text in [
            "`out[x](y)` and `a[i]`",
            "in [x] (y)",
            "[x](y z)",
            "[x](",
            "](y)",
        ] {
            assert_eq!(spelled_out(text, "a", Lang::En), text);
        }
    }
}
