//! The two languages of the book.

/// A language of the book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// Both languages.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// Returns the language code that file names and HTML's `lang` attribute use.
    pub fn code(self) -> &'static str {
        self.pick("en", "zh")
    }

    /// Returns the variant of a text or value for this language.
    pub fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }
}
