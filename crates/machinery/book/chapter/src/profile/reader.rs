//! Presentation of a listing: its width, its language, and the source of its text.

/// The presentation of a listing.
pub struct Reader<'a> {
    /// Maximum width of a line in columns; longer lines are truncated.
    pub width: usize,
    /// True for Chinese.
    pub chinese: bool,
    /// Returns the lines of a file by its name in the PTX, or a sentence on why they are missing.
    pub text: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
}

impl Reader<'_> {
    /// Returns the text in the reader's language.
    pub(super) fn pick(&self, english: &str, chinese: &str) -> String {
        match self.chinese {
            false => english.to_owned(),
            true => chinese.to_owned(),
        }
    }

    /// Truncates a line to the width; a truncated line ends with `…`.
    pub(super) fn cut(&self, line: &str) -> String {
        let line = line.trim_end();
        if line.chars().map(columns_of).sum::<usize>() <= self.width {
            return line.to_owned();
        }
        let mut remaining = self.width - 1;
        let fits = |character: &char| match remaining.checked_sub(columns_of(*character)) {
            Some(rest) => {
                remaining = rest;
                true
            }
            None => false,
        };
        let mut truncated: String = line.chars().take_while(fits).collect();
        truncated.push('…');
        truncated
    }
}

/// Returns the columns of a character in a terminal; Chinese characters take two.
fn columns_of(character: char) -> usize {
    match character {
        '\u{2e80}'.. => 2,
        _ => 1,
    }
}

/// Right-aligns a text in `columns` columns.
pub(super) fn right(text: &str, columns: usize) -> String {
    let taken = text.chars().map(columns_of).sum();
    format!("{}{text}", " ".repeat(columns.saturating_sub(taken)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut() {
        let reader = Reader {
            width: 10,
            chinese: true,
            text: &|_| Err(String::new()),
        };
        assert_eq!(reader.cut(&"é".repeat(10)), "é".repeat(10));
        assert_eq!(reader.cut(&"é".repeat(11)), format!("{}…", "é".repeat(9)));
        assert_eq!(reader.cut("线程束的线程"), "线程束的…");
        assert_eq!(right("线程", 6), "  线程");
    }
}
