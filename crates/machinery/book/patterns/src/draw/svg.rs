//! A writer for SVG drawings that can be embedded in HTML and Markdown: without a prolog or empty lines,
//! with unique ids, and with colours that the page can override.

use std::fmt::Write as _;

use super::WIDTH;

/// Font size.
pub const FONT_SIZE: f64 = 13.0;
/// Distance from one line of text to the next.
pub const LINE_SPACING: f64 = 18.0;

/// The CSS class of an element, defined in [`STYLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Ink,
    Bold,
    Faint,
    /// The first of four colours that colour-blind readers can distinguish.
    A,
    B,
    C,
    D,
    /// Memory that is loaded but not used.
    Waste,
    /// The outline of something that is not accessed.
    Empty,
    Line,
}

impl Class {
    pub const COLOURS: [Class; 4] = [Class::A, Class::B, Class::C, Class::D];

    fn name(self) -> &'static str {
        match self {
            Class::Ink => "i",
            Class::Bold => "t",
            Class::Faint => "f",
            Class::A => "a",
            Class::B => "b",
            Class::C => "c",
            Class::D => "d",
            Class::Waste => "w",
            Class::Empty => "e",
            Class::Line => "l",
        }
    }
}

/// The style sheet. Its colours are defaults that a page can override, as the book does in
/// `docs/theme/figures.css`. They are the palette of Okabe and Ito, which colour-blind readers can
/// distinguish. The rules for `:root` apply only where the file is shown as an image, as on GitHub,
/// because an embedded drawing is not the root element.
const STYLE: &str = ".fig text{font-size:13px;fill:var(--fig-ink,#1b1b1b)}\
.fig .t{font-weight:600}\
.fig .f{fill:var(--fig-faint,#595959)}\
.fig .a{fill:var(--fig-a,#0072b2)}\
.fig .b{fill:var(--fig-b,#56b4e9)}\
.fig .c{fill:var(--fig-c,#e69f00)}\
.fig .d{fill:var(--fig-d,#d55e00)}\
.fig .w{fill:var(--fig-waste,#c9c9c9)}\
.fig .e{fill:none;stroke:var(--fig-line,#b3b3b3);stroke-width:.7}\
.fig .l{fill:none;stroke:var(--fig-ink,#1b1b1b)}\
svg.fig:root{font-family:sans-serif;background:#fff}\
@media(prefers-color-scheme:dark){svg.fig:root{background:#0d1117;--fig-ink:#e6edf3;\
--fig-faint:#a3a9b5;--fig-line:#5d6470;--fig-waste:#565c68;--fig-a:#4c9fd8;--fig-b:#a5d8f6;\
--fig-c:#e8b13c;--fig-d:#ef7d3c}}";

/// A drawing under construction.
pub struct Svg {
    name: String,
    title: String,
    body: String,
    height: f64,
    /// Rectangles of one class that are not written yet; they become a single path.
    pending: Option<(Class, String)>,
}

impl Svg {
    /// Creates an empty drawing. `name` is the name of the figure and the prefix of its ids.
    pub fn new(name: &str, title: &str) -> Svg {
        Svg {
            name: name.into(),
            title: title.into(),
            body: String::new(),
            height: 0.0,
            pending: None,
        }
    }

    /// Returns the complete `<svg>` element. `description` is the text alternative for screen readers.
    pub fn finish(mut self, description: &str) -> String {
        self.flush();
        let Svg { name, body, .. } = &self;
        let (title, description) = (escape(&self.title), escape(description));
        let height = format_number(self.height.ceil());
        format!(
            "<svg class=\"fig\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" \
             viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title id=\"{name}-title\">{title}</title>\n\
             <desc id=\"{name}-desc\">{description}</desc>\n\
             <style>{STYLE}</style>\n{body}</svg>\n"
        )
    }

    /// Extends the drawing to at least `y`.
    pub fn extend_to(&mut self, y: f64) {
        self.height = self.height.max(y);
    }

    /// Draws a rectangle.
    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: Class) {
        self.extend_to(y + height + 1.0);
        if matches!(&self.pending, Some((other, _)) if *other != class) {
            self.flush();
        }
        let (_, path) = self.pending.get_or_insert_with(|| (class, String::new()));
        let [x, y, width, height] = [x, y, width, height].map(format_number);
        // Writing to a string does not fail.
        let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
    }

    /// Draws `count` boxes side by side, one every `step`, with gaps in between.
    pub fn boxes(
        &mut self,
        [x, y]: [f64; 2],
        count: usize,
        [step, gap, height]: [f64; 3],
        class: impl Fn(usize) -> Class,
    ) {
        for index in 0..count {
            let x = x + index as f64 * step;
            self.rect(x, y, step - gap, height, class(index));
        }
    }

    /// Writes the rectangles that are not written yet.
    fn flush(&mut self) {
        if let Some((class, path)) = self.pending.take() {
            let class = class.name();
            let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// Draws a rectangle with a tooltip.
    pub fn rect_with_tooltip(&mut self, bounds: [f64; 4], class: Class, tooltip: &str) {
        self.extend_to(bounds[1] + bounds[3] + 1.0);
        let [x, y, width, height] = bounds.map(format_number);
        let (class, tooltip) = (class.name(), escape(tooltip));
        self.write(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">\
             <title>{tooltip}</title></rect>"
        ));
    }

    pub fn line(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.extend_to(from[1].max(to[1]) + 1.0);
        let ([x1, y1], [x2, y2]) = (from.map(format_number), to.map(format_number));
        let class = Class::Line.name();
        self.write(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    pub fn text(&mut self, x: f64, y: f64, class: Class, text: &str) {
        self.text_at(x, y, "start", class, text);
    }

    pub fn text_centered(&mut self, x: f64, y: f64, class: Class, text: &str) {
        self.text_at(x, y, "middle", class, text);
    }

    pub fn text_right(&mut self, x: f64, y: f64, class: Class, text: &str) {
        self.text_at(x, y, "end", class, text);
    }

    /// Draws text at the left margin, wrapped into lines. Returns the y coordinate of the next line.
    pub fn paragraph(&mut self, y: f64, class: Class, text: &str) -> f64 {
        let mut y = y;
        let limit = match class {
            Class::Bold => 0.92 * WIDTH,
            _ => WIDTH,
        };
        for line in wrap(text, limit) {
            self.text(0.0, y + FONT_SIZE, class, &line);
            y += LINE_SPACING;
        }
        y
    }

    fn text_at(&mut self, x: f64, y: f64, anchor: &str, class: Class, text: &str) {
        self.extend_to(y + 5.0);
        let ([x, y], class, text) = ([x, y].map(format_number), class.name(), escape(text));
        let anchor = match anchor {
            "start" => String::new(),
            other => format!(" text-anchor=\"{other}\""),
        };
        self.write(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"
        ));
    }

    fn write(&mut self, element: std::fmt::Arguments) {
        self.flush();
        let _ = writeln!(self.body, "{element}");
    }
}

/// Formats a length with at most two decimals.
fn format_number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.into()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns the approximate width of a character.
fn width(character: char) -> f64 {
    match character {
        '\u{2e80}'.. => FONT_SIZE,
        ' ' | '.' | ',' | ':' | ';' | 'i' | 'l' | 'j' | 't' | 'f' | 'r' => 0.38 * FONT_SIZE,
        'm' | 'w' | 'M' | 'W' => 0.92 * FONT_SIZE,
        'A'..='Z' => 0.72 * FONT_SIZE,
        _ => 0.62 * FONT_SIZE,
    }
}

/// Splits text into lines of at most `limit` in width. Lines are broken between words and between
/// Chinese characters, but not before punctuation.
fn wrap(text: &str, limit: f64) -> Vec<String> {
    let breaks = |before: char, after: char| {
        let chinese = |c| ('\u{2e80}'..'\u{ff00}').contains(&c) && !"，。：；、）”".contains(c);
        before == ' ' || chinese(after) && before != '（' && before != '“'
    };
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0.0);
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        word.push(character);
        let next = characters.peek();
        if next.is_some_and(|&next| !breaks(character, next)) {
            continue;
        }
        let word_width: f64 = word.trim_end().chars().map(width).sum();
        if used + word_width > limit && !line.is_empty() {
            lines.push(line.trim_end().to_owned());
            (line, used) = (String::new(), 0.0);
        }
        used += word.chars().map(width).sum::<f64>();
        line.push_str(&word);
        word.clear();
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_rectangles_of_a_class_are_one_path() {
        let mut svg = Svg::new("name", "a < b");
        svg.rect(0.0, 0.0, 2.5, 1.0, Class::A);
        svg.rect(3.0, 0.0, 1.0, 1.0, Class::A);
        svg.rect(5.0, 0.0, 1.0 / 3.0, 1.0, Class::B);
        let svg = svg.finish("&");
        assert!(svg.contains("<path class=\"a\" d=\"M0 0h2.5v1h-2.5zM3 0h1v1h-1z\"/>\n"));
        assert!(svg.contains("<path class=\"b\" d=\"M5 0h0.33v1h-0.33z\"/>\n</svg>\n"));
        assert!(svg.contains(">a &lt; b</title>") && svg.contains(">&amp;</desc>"));
        assert!(svg.contains("viewBox=\"0 0 408 2\""));
    }

    #[test]
    fn text_wraps_at_spaces_and_between_chinese_characters() {
        assert_eq!(wrap("one two three", 60.0), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 10.0), ["unbreakable"]);
        assert_eq!(wrap("", 10.0), [""]);
        // A line does not begin with punctuation that ends a clause.
        assert_eq!(
            wrap("一二三，四五", 3.0 * FONT_SIZE),
            ["一二", "三，四", "五"]
        );
    }
}
