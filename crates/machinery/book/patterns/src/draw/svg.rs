//! A writer for SVG drawings that can be embedded in HTML and Markdown: without a prolog or empty lines,
//! with unique ids, and with a class for each colour, so that a page can override it.

use std::fmt::Write as _;

use super::WIDTH;

/// Font size.
pub const FONT_SIZE: f64 = 13.0;
/// Distance from one line of text to the next.
pub const LINE_SPACING: f64 = 18.0;
/// Empty space around a drawing.
const MARGIN: f64 = 12.0;
/// Side length of a colour sample in a legend.
const SWATCH: f64 = 12.0;
/// Distance from a colour sample to its text, and minimum distance from that text to the next sample.
const SWATCH_GAP: [f64; 2] = [6.0, 14.0];

/// The CSS class of an element, defined in [`STYLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Ink,
    Bold,
    /// The title of a figure, larger than other text.
    Heading,
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
            Class::Heading => "h",
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

/// The style sheet, with literal colours because librsvg and PDF converters do not support CSS variables. The colours
/// are the palette of Okabe and Ito, which colour-blind readers can distinguish. In the book, the rules of
/// `docs/theme/figures.css` override them. The rules for `:root` apply only where the file is shown as an image, as on
/// GitHub, because an embedded drawing is not the root element.
const STYLE: &str = ".fig text{font-size:13px;fill:#1b1b1b}\
.fig .t,.fig .h{font-weight:600}\
.fig .h{font-size:15px}\
.fig .f{fill:#595959}\
.fig .a{fill:#0072b2}\
.fig .b{fill:#56b4e9}\
.fig .c{fill:#e69f00}\
.fig .d{fill:#d55e00}\
.fig .w{fill:#c9c9c9}\
.fig .e{fill:none;stroke:#b3b3b3;stroke-width:.7}\
.fig .l{fill:none;stroke:#1b1b1b}\
.fig .p{fill:#fff}\
:root.fig{font-family:sans-serif}\
@media(prefers-color-scheme:dark){\
:root.fig text{fill:#e6edf3}\
:root.fig .f{fill:#a3a9b5}\
:root.fig .a{fill:#4c9fd8}\
:root.fig .b{fill:#a5d8f6}\
:root.fig .c{fill:#e8b13c}\
:root.fig .d{fill:#ef7d3c}\
:root.fig .w{fill:#565c68}\
:root.fig .e{stroke:#5d6470}\
:root.fig .l{stroke:#e6edf3}\
:root.fig .p{fill:#0d1117}}";

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

    /// Returns the complete `<svg>` element with the title drawn above. `description` is the text alternative for
    /// screen readers.
    pub fn finish(self, description: &str) -> String {
        let lines = wrap(&self.title, line_width(Class::Heading));
        self.finish_with_heading(&lines, description)
    }

    /// Returns the complete `<svg>` element, for a page that shows the title itself.
    pub fn finish_untitled(self, description: &str) -> String {
        self.finish_with_heading(&[], description)
    }

    fn finish_with_heading(mut self, lines: &[String], description: &str) -> String {
        let heading_height = match lines.len() {
            0 => 0.0,
            count => count as f64 * (LINE_SPACING + 1.0) + 6.0,
        };
        for (number, line) in lines.iter().enumerate() {
            let y = number as f64 * (LINE_SPACING + 1.0) - heading_height + 14.0;
            self.text(0.0, y, Class::Heading, line);
        }
        self.flush();
        let Svg { name, body, .. } = &self;
        let (title, description) = (escape(&self.title), escape(description));
        let (x, y) = (-MARGIN, format_number(-MARGIN - heading_height));
        let (width, height) = (
            WIDTH + 2.0 * MARGIN,
            format_number(self.height.ceil() + heading_height + 2.0 * MARGIN),
        );
        format!(
            "<svg class=\"fig\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" \
             viewBox=\"{x} {y} {width} {height}\" width=\"{width}\" height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title id=\"{name}-title\">{title}</title>\n\
             <desc id=\"{name}-desc\">{description}</desc>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"p\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
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

    pub fn circle(&mut self, [x, y]: [f64; 2], radius: f64, class: Class) {
        self.extend_to(y + radius + 1.0);
        let ([x, y, radius], class) = ([x, y, radius].map(format_number), class.name());
        self.write(format_args!(
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
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
        for line in wrap(text, line_width(class)) {
            self.text(0.0, y + FONT_SIZE, class, &line);
            y += LINE_SPACING;
        }
        y
    }

    /// Draws colour samples with their meanings, on as many lines as needed. Returns the y coordinate of the next line.
    pub fn legend(&mut self, y: f64, entries: &[(Class, &str)]) -> f64 {
        let (mut x, mut y) = (0.0, y);
        for &(class, text) in entries {
            let text_x = SWATCH + SWATCH_GAP[0];
            let end = text_x + text_width(text);
            if x > 0.0 && x + end > WIDTH {
                (x, y) = (0.0, y + LINE_SPACING);
            }
            self.rect(x, y + 2.0, SWATCH, SWATCH, class);
            self.text(x + text_x, y + FONT_SIZE, Class::Faint, text);
            x += end + SWATCH_GAP[1];
        }
        y + LINE_SPACING
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

/// Returns the maximum width of a line at [`FONT_SIZE`]; text of some classes is wider than that.
fn line_width(class: Class) -> f64 {
    match class {
        Class::Bold => 0.92 * WIDTH,
        Class::Heading => 0.8 * WIDTH,
        _ => WIDTH,
    }
}

fn text_width(text: &str) -> f64 {
    text.chars().map(width).sum()
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
        let word_width = text_width(word.trim_end());
        if used + word_width > limit && !line.is_empty() {
            lines.push(line.trim_end().to_owned());
            (line, used) = (String::new(), 0.0);
        }
        used += text_width(&word);
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
        let svg = svg.finish_untitled("&");
        assert!(svg.contains("<path class=\"a\" d=\"M0 0h2.5v1h-2.5zM3 0h1v1h-1z\"/>\n"));
        assert!(svg.contains("<path class=\"b\" d=\"M5 0h0.33v1h-0.33z\"/>\n</svg>\n"));
        assert!(svg.contains(">a &lt; b</title>") && svg.contains(">&amp;</desc>"));
        assert!(svg.contains("viewBox=\"-12 -12 424 26\""));
    }

    #[test]
    fn legends_wrap_and_titles_are_drawn_above() {
        let mut svg = Svg::new("name", "a title");
        let text = "m".repeat(25);
        assert_eq!(
            svg.legend(0.0, &[(Class::A, &text), (Class::B, &text)]),
            36.0
        );
        let svg = svg.finish("description");
        assert!(svg.contains("<text class=\"h\" x=\"0\" y=\"-11\">a title</text>"));
        assert!(svg.contains("viewBox=\"-12 -37 424 85\""), "{svg}");
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
