//! What is said, in the book's two languages.

/// A language of the book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// Both.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// As in file names and in HTML's `lang`.
    pub fn code(self) -> &'static str {
        self.of("en", "zh")
    }

    /// The one of two texts that is in this language.
    pub fn of<T>(self, english: T, chinese: T) -> T {
        match self {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }
}
