//! For whom lines are listed: how wide they may be, in which language, and where their text is from.

/// For whom lines are listed.
pub struct Reader<'a> {
    /// Characters of a line, the text cut off at its end where that takes more.
    pub width: usize,
    /// Whether it is in Chinese.
    pub chinese: bool,
    /// The lines of a file by the name that the PTX has for it, or a sentence on why they are not there.
    pub text: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
}

impl Reader<'_> {
    /// One of two texts.
    pub(super) fn pick(&self, english: &str, chinese: &str) -> String {
        match self.chinese {
            false => english.to_owned(),
            true => chinese.to_owned(),
        }
    }

    /// At most as many columns as there are, the last of them `…` where it took more.
    pub(super) fn cut(&self, line: &str) -> String {
        let line = line.trim_end();
        if line.chars().map(wide).sum::<usize>() <= self.width {
            return line.to_owned();
        }
        let mut left = self.width - 1;
        let fits = |character: &char| match left.checked_sub(wide(*character)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let mut kept: String = line.chars().take_while(fits).collect();
        kept.push('…');
        kept
    }
}

/// Columns that a character takes in a terminal: a Chinese one takes two.
fn wide(character: char) -> usize {
    match character {
        '\u{2e80}'.. => 2,
        _ => 1,
    }
}

/// A text at the right of so many columns.
pub(super) fn right(text: &str, columns: usize) -> String {
    let taken = text.chars().map(wide).sum();
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
