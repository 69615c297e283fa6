//! The rectangle that data is drawn in, with its axes.

use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;

use super::axis::Axis;
use super::pen::{BLACK_INK, BODY, GREY_INK, GRID, Letters, Paper};

/// Below the rectangle: tick labels, and the axis's name.
pub const BELOW: i32 = 52;
/// To the left of the rectangle, for an axis that goes up: the same.
pub const BESIDE: i32 = 84;

/// Length of a tick's mark. plotters would make it longer in larger charts.
const TICK: i32 = 5;

/// Where data is drawn: edges in the picture's units, from its upper left corner.
pub struct Frame {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

/// The rectangle with its coordinates, and what could not be drawn.
type Chart<B> = Result<
    DrawingArea<B, Cartesian2d<Axis, Axis>>,
    DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>,
>;

impl Frame {
    /// A rectangle for horizontal bars: an axis with its name below it, and no other.
    pub fn bars<B: DrawingBackend>(&self, paper: &Paper<B>, x: Axis, name: &str) -> Chart<B> {
        let rows = Axis::linear([], |_| String::new());
        self.chart(paper, (x, name), rows, None)
    }

    /// A rectangle for points: two axes with their names.
    pub fn points<B: DrawingBackend>(
        &self,
        paper: &Paper<B>,
        x: (Axis, &str),
        (y, name): (Axis, &str),
    ) -> Chart<B> {
        self.chart(paper, x, y, Some(name))
    }

    fn chart<B: DrawingBackend>(
        &self,
        paper: &Paper<B>,
        (x, x_name): (Axis, &str),
        y: Axis,
        y_name: Option<&str>,
    ) -> Chart<B> {
        let beside = y_name.map_or(0, |_| BESIDE);
        let corner = (self.left - beside, self.top);
        let size = (self.right - corner.0, self.bottom + BELOW - self.top);
        let area = paper.clone().shrink(corner, size);
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(BELOW)
            .y_label_area_size(beside)
            .build_cartesian_2d(x, y)?;
        let mut mesh = chart.configure_mesh();
        mesh.bold_line_style(GRID)
            .axis_style(GREY_INK)
            .set_tick_mark_size(LabelAreaPosition::Bottom, TICK)
            .set_tick_mark_size(LabelAreaPosition::Left, TICK)
            .label_style(Letters::new(BODY, BLACK_INK).style())
            .axis_desc_style(Letters::new(BODY, BLACK_INK).style())
            .x_desc(x_name);
        match y_name {
            Some(name) => mesh.y_desc(name).draw()?,
            None => mesh.disable_y_mesh().disable_y_axis().draw()?,
        }
        Ok(chart.plotting_area().clone())
    }
}
