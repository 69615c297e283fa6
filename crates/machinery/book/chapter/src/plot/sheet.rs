//! The sheet that charts are drawn on, from top to bottom.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::font;
use super::pen::{BODY, Drawn, FAINT, GREY_INK, HEADING, Letters, Paper};

/// Width of every picture in pixels of the SVG: that of the book's other figures, whose text is legible on a
/// phone. The height depends on the content.
pub const WIDTH: i32 = 408;
/// White space around the picture.
const MARGIN: i32 = 10;
/// Left end of text and bars.
pub const LEFT: i32 = MARGIN;
/// Right end of text and bars, at most.
pub const RIGHT: i32 = WIDTH - MARGIN;

/// Space above a chart's heading.
const HEADING_GAP: i32 = 20;
/// Space above a note.
const GAP: i32 = 10;
/// Space between texts on one line.
const TEXT_GAP: i32 = 8;
/// Length of a tick mark.
pub const TICK: i32 = 4;

/// A drawing area and the height that is used so far.
pub struct Sheet<B: DrawingBackend> {
    pub paper: Paper<B>,
    /// Top of the next line.
    pub top: i32,
    /// The group of the chart's last variant.
    group: Option<String>,
}

impl<B: DrawingBackend> Sheet<B> {
    /// Creates an empty sheet.
    pub fn new(paper: Paper<B>) -> Self {
        Sheet {
            paper,
            top: MARGIN,
            group: None,
        }
    }

    /// Finishes the sheet and returns its height.
    pub fn finish(self) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
        self.paper.present()?;
        Ok(self.top + MARGIN)
    }

    /// Leaves `pixels` pixels free.
    pub fn space(&mut self, pixels: i32) {
        self.top += pixels;
    }

    /// Writes a line, truncated if it is too long.
    pub fn text(&mut self, letters: Letters, text: &str) -> Drawn<B> {
        let middle = self.top + letters.leading() / 2;
        letters.write(&self.paper, text, (LEFT, middle), RIGHT - LEFT)?;
        self.space(letters.leading());
        Ok(())
    }

    /// Writes a name and its value at both ends of a line, or on two lines if they are too long.
    pub fn pair(&mut self, (letters, name): (Letters, &str), value: &str) -> Drawn<B> {
        let width = BODY.width(value);
        if letters.width(name) + TEXT_GAP + width > RIGHT - LEFT {
            self.text(letters, name)?;
        } else {
            let middle = self.top + letters.leading() / 2;
            letters.write(&self.paper, name, (LEFT, middle), RIGHT - LEFT)?;
        }
        let middle = self.top + BODY.leading() / 2;
        let value_letters = BODY.anchored(HPos::Right);
        value_letters.write(&self.paper, value, (RIGHT, middle), RIGHT - LEFT)?;
        self.space(BODY.leading());
        Ok(())
    }

    /// Writes an explanation on as many lines as needed.
    pub fn paragraph(&mut self, text: &str) -> Drawn<B> {
        for line in font::wrapped(text, FAINT.size, f64::from(RIGHT - LEFT)) {
            self.text(FAINT, &line)?;
        }
        Ok(())
    }

    /// Writes a note between charts.
    pub fn note(&mut self, text: &str) -> Drawn<B> {
        self.space(GAP);
        self.paragraph(text)
    }

    /// Writes a chart's heading.
    pub fn heading(&mut self, text: &str) -> Drawn<B> {
        self.group = None;
        self.space(HEADING_GAP);
        self.text(HEADING, text)
    }

    /// Writes the group of the next variant if it differs from that of the last.
    pub fn group(&mut self, name: &str) -> Drawn<B> {
        let last = self.group.replace(name.to_owned());
        if last.as_deref() == Some(name) {
            return Ok(());
        }
        if last.is_some() {
            self.space(GAP / 2);
            let line = [(LEFT, self.top), (RIGHT, self.top)];
            let ink = GREY_INK.mix(0.35);
            self.paper.draw(&PathElement::new(line, ink))?;
        }
        self.space(GAP / 2);
        if name.is_empty() {
            return Ok(());
        }
        self.text(FAINT, name)
    }

    /// Draws an axis from `left` to the right margin, with ticks and its name below. Labels that would
    /// overlap another one are left out.
    pub fn axis(&mut self, axis: &Axis, left: i32, name: &str) -> Drawn<B> {
        let line = [(left, self.top), (RIGHT, self.top)];
        self.paper.draw(&PathElement::new(line, GREY_INK))?;
        let middle = self.top + TICK + BODY.leading() / 2;
        let mut free = LEFT;
        for (value, label) in axis.ticks() {
            let x = axis.pixel(value, (left, RIGHT));
            let tick = [(x, self.top), (x, self.top + TICK)];
            self.paper.draw(&PathElement::new(tick, GREY_INK))?;
            let half = BODY.width(&label) / 2 + 1;
            let x = x.clamp(LEFT + half, RIGHT - half);
            if x - half >= free {
                let letters = BODY.anchored(HPos::Center);
                letters.write(&self.paper, &label, (x, middle), RIGHT - LEFT)?;
                free = x + half + TEXT_GAP;
            }
        }
        self.space(TICK + BODY.leading());
        self.text(FAINT, name)
    }
}
