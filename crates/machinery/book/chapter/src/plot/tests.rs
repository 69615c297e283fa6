//! Tests of the pictures: their text, its position, and that nothing overlaps.

use std::collections::BTreeSet;

use cuda_driver::AccessClass;
use cuda_driver::counters::{AccessCounts, Tally};
use cuda_driver::model::Roofline;
use roxmltree::{Document, Node};

use super::{Figure, Variant, destination, pen, sheet};
use common::gpu::{Capability, Clock, GpuInfo};

/// Returns a figure of `variants` variants, two per group, with all data that its clock allows.
pub fn figure(clock: Clock, variants: usize) -> Figure {
    let variants = (0..variants).map(|index| Variant {
        group: format!("block {}", 32 << (index / 2 % 6)),
        label: format!("variant {index}"),
        milliseconds: 0.02 * (index + 1) as f64,
        tally: (clock == Clock::Modelled).then(|| tally(index as u64)),
        roofline: (clock == Clock::Modelled).then(|| roofline(1e8 * (index + 1) as f64)),
    });
    Figure {
        title: "stencil-readonly, 2²⁴ floats".to_owned(),
        gpu: GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: Capability(9, 0),
            driver: "13.0".to_owned(),
            time: clock,
        },
        variants: variants.collect(),
    }
}

fn tally(index: u64) -> Tally {
    let counts = |requests, sectors, wavefronts, addresses| AccessCounts {
        requests,
        sectors,
        wavefronts,
        addresses,
        ..AccessCounts::default()
    };
    let constants = 1_048_576 * (index % 2);
    Tally::of([
        (
            AccessClass::GlobalLoad,
            counts(1_572_864 + index, 3_670_016, 0, 0),
        ),
        (AccessClass::GlobalStore, counts(524_288, 2_621_440, 0, 0)),
        (AccessClass::SharedLoad, counts(4_194_304, 0, 4_241_427, 0)),
        (AccessClass::ConstantLoad, counts(0, 0, 0, constants)),
    ])
}

fn roofline(operations: f64) -> Roofline {
    Roofline {
        operations,
        bytes: 1.3e8,
        peak_operations: 66.9e12,
        peak_bandwidth: 4.8e12,
    }
}

fn svg(figure: &Figure) -> String {
    super::svg(figure, "times").unwrap().0
}

/// Returns the elements of a picture with this name.
fn elements<'a>(picture: &'a Document, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    let nodes = picture.descendants();
    nodes.filter(move |node| node.has_tag_name(name))
}

fn text_of(node: Node) -> String {
    let text = node.text().unwrap_or_default();
    text.trim_matches('\n').to_owned()
}

fn number(node: Node, attribute: &str) -> f64 {
    node.attribute(attribute).unwrap().parse().unwrap()
}

/// Returns the lines of text in a picture.
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    elements(&document, "text").map(text_of).collect()
}

/// Returns all text as one line.
fn words(svg: &str) -> String {
    texts(svg).join(" ")
}

#[track_caller]
fn assert_has(texts: &[String], expected: &[&str]) {
    for expected in expected {
        let has = texts.iter().any(|text| text == expected);
        assert!(has, "no '{expected}' in {texts:#?}");
    }
}

/// Returns the left, top, right and bottom edges of each text.
fn boxes(svg: &str) -> Vec<(String, [f64; 4])> {
    let document = Document::parse(svg).unwrap();
    let boxes = elements(&document, "text").map(|node| {
        let [x, y, size] = ["x", "y", "font-size"].map(|name| number(node, name));
        let text = text_of(node);
        let width = pen::width(&text, size);
        let before = match node.attribute("text-anchor").unwrap() {
            "start" => 0.0,
            "middle" => 0.5,
            _ => 1.0,
        };
        // The height of the letters, whose baseline `dy` moves.
        assert_eq!(node.attribute("dy"), Some("0.5ex"));
        let left = x - before * width;
        let bounds = [left, y - 0.5 * size, left + width, y + 0.45 * size];
        (text, bounds)
    });
    boxes.collect()
}

#[test]
fn texts_do_not_overlap_or_leave_the_picture() {
    for clock in [Clock::Measured, Clock::Modelled] {
        for variants in [1, 2, 7, 20, 40] {
            let svg = svg(&figure(clock, variants));
            let document = Document::parse(&svg).unwrap();
            let height = number(document.root_element(), "height");
            let boxes = boxes(&svg);
            for (index, (text, [left, top, right, bottom])) in boxes.iter().enumerate() {
                let width = f64::from(sheet::WIDTH);
                let within = *left >= 0.0 && *top >= 0.0 && *right <= width && *bottom <= height;
                assert!(within, "'{text}' leaves the picture");
                for (other, [l, t, r, b]) in &boxes[..index] {
                    let is_disjoint = right <= l || r <= left || bottom <= t || b <= top;
                    assert!(is_disjoint, "'{text}' is on '{other}' of {variants}");
                }
            }
        }
    }
}

#[test]
fn letters_are_large_enough() {
    let svg = svg(&figure(Clock::Modelled, 20));
    let document = Document::parse(&svg).unwrap();
    for node in elements(&document, "text") {
        let size = number(node, "font-size");
        assert!(size >= 13.0, "{:?} is {size} pixels", node.text());
        assert_eq!(node.attribute("font-family"), Some("sans-serif"));
    }
}

#[test]
fn every_figure_has_its_name_and_unit() {
    let texts = texts(&svg(&figure(Clock::Modelled, 3)));
    assert_has(
        &texts,
        &[
            "stencil-readonly, 2²⁴ floats",
            "block 32",
            "block 64",
            "variant 0",
            "variant 2",
            "0.02000 ms",
            "ms per launch or copy, modelled",
            "1.57 M requests, 3.67 M sectors",
            "4.19 M requests, 4.24 M wavefronts",
            "none",
            "requests, sectors, wavefronts per launch, log scale",
            "2: variant 1",
            "1.54 FLOP/B, 5 TFLOP/s",
            "FLOP per byte of device memory, log scale",
            "FLOP/s, modelled, log scale",
            "device memory, 4.8 TB/s",
            "arithmetic, 66.9 TFLOP/s",
        ],
    );
}

#[test]
fn pictures_have_text_alternatives() {
    let alternatives = |figure: &Figure, name: &str| {
        let svg = super::svg(figure, name).unwrap().0;
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        let labels = root.attribute("aria-labelledby").unwrap().split(' ');
        let texts = labels.map(|id| {
            assert!(id.starts_with("my-times-"), "{id}");
            let mut nodes = document.descendants();
            let node = nodes.find(|node| node.attribute("id") == Some(id)).unwrap();
            node.text().unwrap().to_owned()
        });
        texts.collect::<Vec<_>>()
    };
    let some = alternatives(&figure(Clock::Modelled, 3), "my times");
    let ends = [
        "Shortest time: variant 0, block 32, 0.02000 ms",
        "Longest time: variant 2, block 64, 0.06000 ms",
        "Fewest requests: variant 0, block 32, 6.29 M",
        "Most requests: variant 1, block 32, 7.34 M",
    ];
    let title = "stencil-readonly, 2²⁴ floats, modelled, NVIDIA H200";
    assert_eq!(some, [title, &ends.join("\n")]);
    let single = alternatives(&figure(Clock::Measured, 1), "my/times");
    assert_eq!(single[1], "Time: variant 0, block 32, 0.02000 ms");
}

/// The book embeds pictures in its Markdown and recolours them.
#[test]
fn pictures_can_be_put_into_the_book() {
    let styles = include_str!("../../../../../../docs/theme/figures.css");
    let mut colours = BTreeSet::new();
    for clock in [Clock::Measured, Clock::Modelled] {
        let svg = svg(&figure(clock, 4));
        assert!(svg.lines().all(|line| !line.trim().is_empty()));
        assert!(svg.starts_with("<svg class=\"plot\" "));
        for node in Document::parse(&svg).unwrap().descendants() {
            for property in ["fill", "stroke"] {
                let colour = node.attribute(property).filter(|&colour| colour != "none");
                colours.extend(colour.map(|colour| format!("svg.plot [{property}=\"{colour}\"]")));
            }
        }
    }
    for rule in &colours {
        assert!(styles.contains(rule), "docs/theme/figures.css lacks {rule}");
    }
    let rules = styles.matches("svg.plot [").count();
    let unused = "rules for colours that no picture has";
    assert_eq!(rules, colours.len(), "{unused}");
}

#[test]
fn measured_and_modelled_times_look_and_read_differently() {
    let measured = svg(&figure(Clock::Measured, 2));
    let modelled = svg(&figure(Clock::Modelled, 2));
    assert_has(&texts(&measured), &["measured, NVIDIA H200"]);
    let modelled_texts = texts(&modelled);
    assert_has(
        &modelled_texts,
        &["modelled, NVIDIA H200: not a measurement"],
    );
    assert!(!measured.contains("modelled"));
    assert!(modelled_texts.iter().all(|text| !text.contains("measured")));
    // Only hatching is drawn as a polyline: in the legend and in each bar.
    let colour = format!("#{:02X}{:02X}{:02X}", pen::BAR.0, pen::BAR.1, pen::BAR.2);
    let hatched = |svg: &str| {
        let document = Document::parse(svg).unwrap();
        let lines = elements(&document, "polyline");
        let is_hatch = |line: &Node| line.attribute("stroke") == Some(colour.as_str());
        lines.filter(is_hatch).count()
    };
    assert_eq!((hatched(&measured), hatched(&modelled)), (0, 3));
}

#[test]
fn on_a_gpu_missing_charts_are_explained() {
    let svg = svg(&figure(Clock::Measured, 2));
    for lack in [
        "Requests are not shown: on a GPU, counting them needs a profiler; the simulator counts them itself.",
        "No roofline: on a GPU, counting the bytes moved to and from device memory needs a \
         profiler; the simulator counts them itself.",
    ] {
        assert!(words(&svg).contains(lack), "{}", words(&svg));
    }
    let is_chart = |text: &String| text == "Roofline" || text == "Requests by variant";
    assert!(!texts(&svg).iter().any(is_chart));
}

const NO_ARITHMETIC: &str = "No roofline: no kernel uses floating-point arithmetic.";

#[test]
fn kernels_without_floating_point_are_not_in_the_roofline() {
    let mut figure = figure(Clock::Modelled, 3);
    figure.variants[1].roofline = Some(roofline(0.0));
    let some = texts(&svg(&figure));
    assert_has(&some, &["Roofline", "1: variant 0", "2: variant 2"]);
    assert!(!some.iter().any(|text| text.ends_with(": variant 1")));

    for variant in &mut figure.variants {
        variant.roofline = Some(roofline(0.0));
    }
    let none = texts(&svg(&figure));
    assert_has(&none, &[NO_ARITHMETIC]);
}

#[test]
fn missing_counters_are_explained() {
    let mut figure = figure(Clock::Modelled, 2);
    for variant in &mut figure.variants {
        variant.tally = Some(Tally::default());
        variant.roofline = Some(Roofline {
            peak_operations: 0.0,
            ..roofline(1e9)
        });
    }
    let lacks = [
        "Requests are not shown: no kernel here accesses memory.",
        "No roofline: the peak rates of this GPU are unknown.",
    ];
    assert_has(&texts(&svg(&figure)), &lacks);
    for variant in &mut figure.variants {
        (variant.tally, variant.roofline) = (None, None);
    }
    let lacks = [
        "Requests are not shown: they were not counted.",
        "No roofline: bytes and operations were not counted.",
    ];
    assert_has(&texts(&svg(&figure)), &lacks);
}

#[test]
fn wide_spreads_are_logarithmic() {
    let axis = |longest: f64| {
        let mut figure = figure(Clock::Measured, 2);
        figure.variants[0].milliseconds = 0.1;
        figure.variants[1].milliseconds = longest;
        let mut texts = texts(&svg(&figure)).into_iter();
        texts.find(|text| text.starts_with("ms per")).unwrap()
    };
    assert_eq!(axis(0.9), "ms per launch or copy, measured");
    assert_eq!(axis(1.1), "ms per launch or copy, measured, log scale");
}

#[test]
fn special_characters_in_labels_are_preserved() {
    let mut figure = figure(Clock::Modelled, 3);
    figure.title = "<title> & \"more\"".to_owned();
    figure.variants[0].label = "<b>&amp;\"'".to_owned();
    figure.variants[0].group = "常量内存 ]]>".to_owned();
    figure.variants[1].label = "a\0b\nc\u{1b}[31m".to_owned();
    figure.variants[2].label = "long ".repeat(100);
    let texts = texts(&svg(&figure));
    let expected = [
        "<title> & \"more\"",
        "<b>&amp;\"'",
        "常量内存 ]]>",
        "a b c [31m",
    ];
    assert_has(&texts, &expected);
    let long = texts.iter().filter(|text| text.contains("long long"));
    let long: Vec<_> = long.collect();
    assert_eq!(long.len(), 3);
    assert!(long.iter().all(|text| text.ends_with('…')));
}

#[test]
fn invalid_times_have_no_bar() {
    let mut figure = figure(Clock::Modelled, 4);
    let times = [0.0, -1.0, f64::NAN, f64::INFINITY];
    for (variant, time) in figure.variants.iter_mut().zip(times) {
        variant.milliseconds = time;
    }
    let texts = texts(&svg(&figure));
    assert_has(&texts, &["0.00000 ms", "variant 0", "variant 3"]);
    assert_has(&texts, &[NO_ARITHMETIC]);
}

#[test]
fn an_empty_figure_explains_that_nothing_is_shown() {
    let texts = texts(&svg(&figure(Clock::Modelled, 0)));
    assert_has(&texts, &["Nothing is shown: no variant was run."]);
    assert!(!texts.iter().any(|text| text == "Time by variant"));
}

#[test]
fn excess_variants_are_omitted_with_a_note() {
    let texts = texts(&svg(&figure(Clock::Modelled, 100)));
    let note = "The first 40 of 100 variants are shown.";
    assert_has(&texts, &["variant 39", note]);
    assert!(!texts.iter().any(|text| text == "variant 40"));
}

#[test]
fn the_png_is_the_same_picture_but_finer() {
    let figure = figure(Clock::Modelled, 4);
    let (svg, height) = super::svg(&figure, "times").unwrap();
    let file = super::png(&figure, height).unwrap();
    let document = Document::parse(&svg).unwrap();
    let side = |name| destination::SCALE * number(document.root_element(), name) as u32;

    let mut reader = png::Decoder::new(&file[..]).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let expected = (side("width"), side("height"));
    assert_eq!((info.width, info.height), expected);
    let pixel = |x: f64, y: f64| {
        let scale = f64::from(destination::SCALE);
        let index = (scale * y) as usize * info.width as usize + (scale * x) as usize;
        &pixels[3 * index..3 * index + 3]
    };
    assert_eq!(pixel(1.0, 1.0), [255, 255, 255]);

    // Where the SVG has letters, the PNG has ink.
    for (text, [left, top, right, bottom]) in boxes(&svg) {
        let mut ink = 0;
        let mut y = top;
        while y < bottom {
            let mut x = left;
            while x < right {
                ink += usize::from(pixel(x, y)[0] < 160);
                x += 0.5;
            }
            y += 0.5;
        }
        assert!(ink > 10, "'{text}' is not in the PNG");
    }
    // And where it has bars of requests, their colour.
    let colour = |ink: plotters::style::RGBColor| {
        let pixels = pixels.chunks_exact(3);
        pixels.filter(|rgb| *rgb == [ink.0, ink.1, ink.2]).count()
    };
    for ink in [pen::LOADS, pen::STORES, pen::SHARED, pen::CONSTANT] {
        assert!(colour(ink) > 2000, "{ink:?}");
    }
}
