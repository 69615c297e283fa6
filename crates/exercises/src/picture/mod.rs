//! Drawings of one warp's access, the student's next to the intended one: lanes on sectors, banks or constant
//! addresses. Grading records the accesses, which are then drawn as text or SVG.

mod text;

use chapter::lang::Lang;
use cuda_driver::{AccessKind, Memory, SourceLine, Traced, coordinates};
use patterns::draw::lines::{self, Lines};
use patterns::draw::svg::{Class, Svg};
use patterns::draw::{Colours, banks, colour, requests, warp};
use patterns::language::Language;
use serde::{Deserialize, Serialize};

pub use text::text;

use text::cost;

/// Lanes per warp.
const LANES: usize = 32;

/// Bytes per row of a picture: a line of the L1 cache, or one word of each of the 32 banks.
pub const ROW: u64 = 128;

/// A student's access and the intended one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The counter that missed its target.
    pub counter: String,
    /// The student's access; `None` if the submission makes no such access.
    #[serde(rename = "yours")]
    pub actual: Option<Access>,
    /// The solution's access, or the best possible one for as many bytes; `None` if there should be no such
    /// access.
    #[serde(rename = "meant")]
    pub intended: Option<Access>,
}

/// One memory access of one warp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// The kernel.
    pub kernel: String,
    /// The line in the student's file; 0 if it is in another file.
    pub line: u32,
    /// The index of the block, x first.
    pub block: [u32; 3],
    /// The index of the warp in its block.
    pub warp: usize,
    /// The memory space.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u64,
    /// The active lanes and their addresses, relative to the block's shared memory, or in global and constant
    /// memory to the first accessed line of 128 bytes.
    pub lanes: Vec<(usize, u64)>,
    /// The cost in sectors, wavefronts or constant requests.
    pub cost: u32,
    /// The number of accesses that warps made in that line.
    pub times: u64,
}

/// The memory space of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Global memory, accessed in sectors of 32 bytes.
    Global,
    /// Shared memory, accessed in 32 banks.
    Shared,
    /// Constant memory, accessed one address at a time.
    Constant,
}

impl Access {
    /// Converts a traced access of a launch with this grid; `times` is the number of accesses in its line.
    /// Returns `None` for memory spaces that are not drawn.
    pub fn new(traced: &Traced, grid: [u32; 3], is_submission: bool, times: u64) -> Option<Access> {
        let (space, cost) = match traced.memory {
            Memory::Global => (Space::Global, traced.units),
            Memory::Shared => (Space::Shared, traced.wavefronts),
            Memory::Constant => (Space::Constant, traced.units),
            _ => return None,
        };
        let mut lanes: Vec<(usize, u64)> = traced.lanes().collect();
        let first = lanes.iter().map(|(_, address)| address / ROW * ROW).min()?;
        if space != Space::Shared {
            lanes.iter_mut().for_each(|(_, address)| *address -= first);
        }
        Some(Access {
            kernel: String::new(),
            line: if is_submission { traced.source.line } else { 0 },
            block: coordinates(traced.block, grid),
            warp: traced.warp,
            space,
            bytes: traced.bytes,
            lanes,
            cost,
            times,
        })
    }

    /// Returns the best access with the same lanes and bytes: adjacent addresses, or in constant memory a
    /// single address. Returns `None` if this access is already as cheap.
    pub fn ideal(&self) -> Option<Access> {
        let address_of = |number: usize| match self.space {
            Space::Constant => 0,
            Space::Global | Space::Shared => number as u64 * self.bytes,
        };
        let lanes = self.lanes.iter().enumerate();
        let lanes = lanes.map(|(number, &(lane, _))| (lane, address_of(number)));
        let lanes: Vec<(usize, u64)> = lanes.collect();
        let bytes = lanes.len() as u64 * self.bytes;
        let cost = match self.space {
            Space::Global => bytes.div_ceil(32),
            Space::Shared => bytes.div_ceil(ROW),
            Space::Constant => 1,
        } as u32;
        let ideal = Access {
            lanes,
            cost,
            ..self.clone()
        };
        (cost < self.cost).then_some(ideal)
    }

    /// Returns the 32-bit words that the access touches with their lanes, in address order.
    fn words(&self) -> Vec<(u64, Vec<usize>)> {
        let mut words = std::collections::BTreeMap::<u64, Vec<usize>>::new();
        for &(lane, address) in &self.lanes {
            for word in address / 4..=(address + self.bytes.max(1) - 1) / 4 {
                words.entry(word).or_default().push(lane);
            }
        }
        words.into_iter().collect()
    }

    /// Converts the access back to the simulator's form.
    fn traced(&self) -> Traced {
        let mut addresses = [0; LANES];
        let mut mask = 0;
        for &(lane, address) in self.lanes.iter().filter(|(lane, _)| *lane < LANES) {
            addresses[lane] = address;
            mask |= 1 << lane;
        }
        Traced {
            block: 0,
            warp: self.warp,
            source: SourceLine::default(),
            kind: AccessKind::Load,
            memory: match self.space {
                Space::Global => Memory::Global,
                Space::Shared => Memory::Shared,
                Space::Constant => Memory::Constant,
            },
            bytes: self.bytes,
            mask,
            addresses,
            units: self.cost,
            wavefronts: self.cost,
            conflicts: 0,
            bytes_in_flight: 0,
            phase: 0,
            phase_bytes_in_flight: 0,
        }
    }
}

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
        Space::Constant => requests(svg, y, &traced, 0, language),
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
pub mod sample {
    use super::{Access, Space};

    /// Returns an access by all lanes with a stride in bytes.
    pub fn strided(space: Space, bytes: u64, stride: u64, cost: u32) -> Access {
        Access {
            kernel: "sum".to_owned(),
            line: 7,
            block: [3, 0, 0],
            warp: 1,
            space,
            bytes,
            lanes: (0..32).map(|lane| (lane, lane as u64 * stride)).collect(),
            cost,
            times: 4096,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sample::strided;
    use super::*;

    #[test]
    fn the_ideal_access_depends_on_the_memory_space() {
        let ideal = |space, stride, cost| {
            let access = strided(space, 4, stride, cost);
            access.ideal().map(|ideal| (ideal.cost, ideal.lanes[31].1))
        };
        assert_eq!(ideal(Space::Global, 4096, 32), Some((4, 124)));
        assert_eq!(ideal(Space::Global, 4, 4), None);
        assert_eq!(ideal(Space::Shared, 128, 32), Some((1, 124)));
        assert_eq!(ideal(Space::Constant, 4, 32), Some((1, 0)));
    }

    #[test]
    fn words_have_their_lanes() {
        let bytes = strided(Space::Global, 1, 1, 1).words();
        assert_eq!(bytes.len(), 8);
        assert_eq!(bytes[1], (1, vec![4, 5, 6, 7]));
        let wide = strided(Space::Global, 16, 16, 16).words();
        assert_eq!((wide.len(), &wide[7]), (128, &(7, vec![1])));
    }

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
