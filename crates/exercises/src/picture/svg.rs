//! Pictures as SVG, in the style of the book's figures.

use patterns::draw::lines::{self, Lines};
use patterns::draw::svg::{Class, Svg};
use patterns::draw::{Colours, banks, colour, requests, warp};
use patterns::language::Language;

use super::text::cost;
use super::{Access, Picture, Space};
use crate::lang::Lang;

/// The maximum number of global memory lines drawn per access.
const MAX_LINES: usize = 8;

/// Draws a picture with a title.
pub fn svg(picture: &Picture, title: &str, lang: Lang) -> String {
    let language = lang.pick(Language::English, Language::Chinese);
    let mut svg = Svg::new("access", title);
    let mut y = svg.paragraph(0.0, Class::Ink, title) + 4.0;
    y = warp(&mut svg, y, language) + 8.0;
    let mut captions = Vec::new();
    for (access, is_actual) in [(&picture.actual, true), (&picture.intended, false)] {
        let Some(access) = access else {
            continue;
        };
        let caption = caption(access, is_actual, lang);
        y = svg.paragraph(y, Class::Bold, &caption);
        y = draw(&mut svg, y + 4.0, access, language) + 10.0;
        captions.push(caption);
    }
    let note = match picture.actual.as_ref().or(picture.intended.as_ref()) {
        Some(access) => note(access.space, lang),
        None => String::new(),
    };
    svg.paragraph(y, Class::Faint, &note);
    svg.finish(&captions.join(lang.pick("; ", "；")))
}

fn caption(access: &Access, is_actual: bool, lang: Lang) -> String {
    let [x, y, z] = access.block;
    let cost = cost(access, lang);
    match is_actual {
        true => localize!(
            lang,
            "Yours, line {}: {} (block ({}, {}, {}), warp {})",
            "你的，第 {} 行：{}（线程块 ({}, {}, {})，线程束 {}）";
            access.line, cost, x, y, z, access.warp
        ),
        false => localize!(lang, "Meant: {}", "期望：{}"; cost),
    }
}

/// Draws an access from `y` on. Returns the bottom of the drawing.
fn draw(svg: &mut Svg, y: f64, access: &Access, language: Language) -> f64 {
    let traced = access.traced();
    match access.space {
        Space::Global => {
            let reads: [(_, Colours); 1] = [(&traced, colour)];
            let drawn = Lines {
                reads: &reads,
                base: 0,
                max_lines: MAX_LINES,
            };
            lines::draw(svg, y, &drawn, language)
        }
        Space::Shared => banks::draw(svg, y, &traced, language),
        Space::Constant => requests::draw(svg, y, &traced, 0, language),
    }
}

fn note(space: Space, lang: Lang) -> String {
    match space {
        Space::Global => localize!(
            lang,
            "A row is 128 bytes: 4 sectors. Grey parts were fetched but not used.",
            "一行是 128 字节：4 个扇区。灰色部分取来却没有用到。"
        ),
        Space::Shared => localize!(
            lang,
            "A row has one word of each of the 32 banks; accesses to words in one bank are \
             serialized.",
            "一行是 32 个存储体各一个字；对同一存储体中不同字的访问会串行化。"
        ),
        Space::Constant => localize!(
            lang,
            "A row is a request; its coloured cells are the lanes that it serves.",
            "每行是一次请求；彩色的格子是该请求服务的通道。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::strided;
    use super::*;

    #[test]
    fn each_memory_is_drawn_in_both_languages() {
        for (space, stride, cost) in [
            (Space::Global, 4096, 32),
            (Space::Shared, 128, 32),
            (Space::Constant, 4, 32),
        ] {
            let actual = strided(space, 4, stride, cost);
            let picture = Picture {
                counter: String::new(),
                intended: actual.ideal(),
                actual: Some(actual),
            };
            let drawn = svg(&picture, "a < b", Lang::En);
            assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
            assert!(drawn.contains("a &lt; b") && drawn.contains("Yours, line 7: 32 "));
            assert!(drawn.contains(">Meant: "), "{drawn}");
            assert!(svg(&picture, "标题", Lang::Zh).contains("你的，第 7 行：32 "));
        }
    }
}
