//! Locating the launch plan in a kernel's file.

use crate::PlanError;

/// The start of the plan's comment.
const COMMENT_START: &str = "/* cuda-run";
const COMMENT_END: &str = "*/";

/// The text of a plan, and the number of lines before it in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    pub text: &'a str,
    pub lines_before: usize,
}

impl Text<'_> {
    /// Returns the line in the file of a byte offset in the text.
    pub fn line(&self, offset: usize) -> usize {
        let prefix = self.text.get(..offset).unwrap_or(self.text);
        self.lines_before + prefix.matches('\n').count() + 1
    }
}

/// Finds the plan in a file. Returns `None` if there is none.
///
/// # Errors
///
/// Fails if the comment is not closed.
pub fn find(file: &str) -> Result<Option<Text<'_>>, PlanError> {
    let is_start = |(at, _): &(usize, &str)| {
        let line_prefix = file[..*at].rsplit('\n').next();
        let rest = &file[at + COMMENT_START.len()..];
        line_prefix.is_some_and(|prefix| prefix.trim().is_empty())
            && rest.starts_with(|next: char| next.is_whitespace())
    };
    let Some((at, _)) = file.match_indices(COMMENT_START).find(is_start) else {
        return Ok(None);
    };
    let lines_before = file[..at].matches('\n').count();
    let rest = &file[at + COMMENT_START.len()..];
    let Some(end) = rest.find(COMMENT_END) else {
        return Err(PlanError {
            line: lines_before + 1,
            message: "the comment with the launch plan is not closed (missing */)".to_owned(),
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
    fn a_comment_starting_with_cuda_run_holds_the_plan() {
        let file = "// one\n/* cuda-run\nn = 1\nm = 2 */\nint x;\n";
        let plan_text = find(file).unwrap().unwrap();
        assert_eq!(plan_text.text, "\nn = 1\nm = 2 ");
        assert_eq!(plan_text.line(1), 3);
        assert_eq!(plan_text.line(8), 4);
    }

    #[test]
    fn other_comments_are_ignored() {
        for file in [
            "",
            "// /* cuda-run\n",
            "/* cuda-running */",
            "/* see cuda-run */",
        ] {
            assert_eq!(find(file).unwrap(), None, "{file}");
        }
        let error = find("\n/* cuda-run\nn = 1\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the comment with the launch plan is not closed (missing */)"
        );
    }
}
