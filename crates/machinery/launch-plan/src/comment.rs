//! Finding a description in a kernel's file.

use crate::Mistake;

/// How its comment begins.
const BEGIN: &str = "/* cuda-run";
const END: &str = "*/";

/// A description's text, and the line of the file before its first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    pub text: &'a str,
    pub lines_before: usize,
}

impl Text<'_> {
    /// The file's line of a place in the text.
    pub fn line(&self, place: usize) -> usize {
        let before = self.text.get(..place).unwrap_or(self.text);
        self.lines_before + before.matches('\n').count() + 1
    }
}

/// The description in a file; none where it has none.
///
/// # Errors
///
/// Where its comment has no end.
pub fn find(file: &str) -> Result<Option<Text<'_>>, Mistake> {
    let begins = |(at, _): &(usize, &str)| {
        let line_begins = file[..*at].rsplit('\n').next();
        let rest = &file[at + BEGIN.len()..];
        line_begins.is_some_and(|before| before.trim().is_empty())
            && rest.starts_with(|next: char| next.is_whitespace())
    };
    let Some((at, _)) = file.match_indices(BEGIN).find(begins) else {
        return Ok(None);
    };
    let lines_before = file[..at].matches('\n').count();
    let rest = &file[at + BEGIN.len()..];
    let Some(end) = rest.find(END) else {
        return Err(Mistake {
            line: lines_before + 1,
            what: "the comment with the description has no end".to_owned(),
        });
    };
    Ok(Some(Text {
        text: &rest[..end],
        lines_before,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_that_beginning_has_the_description() {
        let file = "// one\n/* cuda-run\nn = 1\nm = 2 */\nint x;\n";
        let found = find(file).unwrap().unwrap();
        assert_eq!(found.text, "\nn = 1\nm = 2 ");
        assert_eq!(found.line(1), 3);
        assert_eq!(found.line(8), 4);
    }

    #[test]
    fn others_are_comments_and_no_more() {
        for file in [
            "",
            "// /* cuda-run\n",
            "/* cuda-running */",
            "/* see cuda-run */",
        ] {
            assert_eq!(find(file).unwrap(), None, "{file}");
        }
        let said = find("\n/* cuda-run\nn = 1\n").unwrap_err();
        assert_eq!(
            said.to_string(),
            "line 2: the comment with the description has no end"
        );
    }
}
