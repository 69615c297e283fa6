//! The two languages of the book.

/// Formats a sentence in the given language: `localize!(language, "{} of {}", "共 {1} 个，第 {0} 个"; index, count)`.
/// The values after the semicolon are passed to both format strings.
macro_rules! localize {
    ($language:expr, $english:literal, $chinese:literal $(; $($value:expr),+)?) => {
        $language.pick(
            format!($english $(, $($value),+)?),
            format!($chinese $(, $($value),+)?),
        )
    };
}

pub(crate) use localize;

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
