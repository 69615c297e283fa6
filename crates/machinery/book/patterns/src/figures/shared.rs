//! Figure of bank conflicts: the load of a column of a tile, without and with a column of padding.

use anyhow::{Context as _, Result};

use super::sectors::run;
use crate::draw::svg::{Class, Svg};
use crate::draw::{banks as draw, warp};
use crate::language::Language;
use crate::sentences;

pub fn banks(language: Language) -> Result<String> {
    let title = language.pick(
        "The banks that a warp accesses when it loads a column, for rows of 32 and of 33 words",
        "线程束按列加载时访问的存储体：每行 32 个字与 33 个字",
    );
    let mut svg = Svg::new("banks", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut results = Vec::new();
    for (pattern, description) in [
        (
            "space=shared order=columns pitch=128",
            language.pick(
                "A column of float tile[32][32]: lane x reads tile[x][0]",
                "float tile[32][32] 的一列：通道 x 读 tile[x][0]",
            ),
        ),
        (
            "space=shared order=columns pitch=132",
            language.pick(
                "A column of float tile[32][33], which has a column of padding",
                "float tile[32][33] 的一列：每行多一个填充元素",
            ),
        ),
    ] {
        let (pattern, outcome) = run(pattern)?;
        let read = outcome.reads.first().context("a warp reads")?;
        y = svg.paragraph(y, Class::Ink, description);
        y = draw::draw(&mut svg, y + 2.0, read, language);
        let result = sentences::result(pattern.space, &outcome.sums, language);
        y = svg.paragraph(y, Class::Bold, &result) + 12.0;
        results.push(result);
    }
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}
