//! Exercises in which the student writes the host side in Rust: this is the grader's side, which sends requests to the
//! program around the submission.

use std::collections::BTreeMap;
use std::ptr;

use answers::blocks;
use answers::events::{self, THREADS};
use answers::overlap::{self, Order, Stream};
use answers::pitched_copy::{self, Copy2d, Part};
use anyhow::Result;
use common::PitchedBuffer;
use common::error::check;
use common::timing;
use cust::launch;
use cust::prelude::*;
use cust::sys::{self, CUmemorytype};

use super::pitched::{padding_byte, words};
use crate::host::{Bench, Case, HostExercise, Output, Program};

/// The grader's host side of 03-blocks.
pub struct Blocks;

/// The number of element counts for which `blocks` is called, per row of results.
const COUNTS_PER_ROW: u32 = 600;

/// The number of columns up to which matrices have the same block, which is easy to read in messages.
const MAX_FIXED_COLUMNS: u32 = 40;

/// A row of results of `blocks`.
struct Row {
    name: String,
    /// The arguments of the calls.
    calls: Vec<(u32, u32)>,
}

impl Row {
    /// Creates a row of calls for the counts that a function returns for 0, 1 and so on.
    fn new(name: String, count: impl Fn(u32) -> u32, threads: u32) -> Row {
        let calls = (0..COUNTS_PER_ROW).map(|n| (count(n), threads)).collect();
        Row { name, calls }
    }

    /// Creates the row of the counts from this one on.
    fn from(first: u32, threads: u32) -> Row {
        let name = match first {
            0 => format!("blocks(n, {threads})"),
            _ => format!("blocks({first} + n, {threads})"),
        };
        Row::new(name, |n| first + n, threads)
    }

    /// Creates the row of the largest counts.
    fn largest(threads: u32) -> Row {
        let name = format!("blocks({} - n, {threads})", u32::MAX);
        Row::new(name, |n| u32::MAX - n, threads)
    }

    /// Creates the row of the multiples of the threads, which arithmetic with fractions may miss.
    fn multiples(threads: u32) -> Row {
        let name = format!("blocks({threads} * n, {threads})");
        Row::new(name, |n| threads * n, threads)
    }
}

/// The arguments of a call of `grid`: columns, rows, and threads per block along x and y.
type Matrix = (u32, u32, (u32, u32));

/// Returns the calls of `grid`, of which the first is for the launched matrix, and the rows of results of `blocks`. All
/// numbers of blocks and counts may occur, but those for small matrices are fixed.
fn calls(case: &Case) -> (Vec<Matrix>, Vec<Row>) {
    let (columns, rows) = (case.size[0], case.size[1]);
    let mut results = vec![Row::from(0, 128), Row::largest(128), Row::largest(2)];
    if columns <= MAX_FIXED_COLUMNS {
        return (vec![(columns, rows, (16, 8))], results);
    }
    let draw = |stream, range| draw_range(case, stream, 1, range)[0];
    for stream in 0..3 {
        // Counts and blocks of all magnitudes.
        let first = draw(10 + stream, [1 << 30, u32::MAX]) >> draw(20 + stream, [2, 30]);
        let threads = draw(30 + stream, [1 << 16, u32::MAX]) >> draw(50 + stream, [0, 26]);
        results.push(Row::from(first, threads.max(1)));
    }
    // Large blocks: counts around a multiple, and any count above it.
    let threads = draw(60, [1 << 20, 1 << 31]);
    let multiple = draw(61, [1, u32::MAX / threads]) * threads;
    let first = (multiple - COUNTS_PER_ROW / 2).min(u32::MAX - COUNTS_PER_ROW);
    results.push(Row::from(first, threads));
    let [first, threads] =
        [62, 63].map(|stream| draw(stream, [1 << 30, u32::MAX - COUNTS_PER_ROW]));
    results.push(Row::from(first, threads >> draw(64, [0, 29])));
    results.push(Row::largest(draw(33, [1, 1024])));
    results.extend((110..130).map(|stream| Row::multiples(draw(stream, [3, 1024]))));

    let block = |stream| (draw(stream, [1, 32]), draw(stream + 1, [1, 32]));
    let most = u32::MAX - draw(70, [0, 8]);
    let mut matrices = vec![
        (columns, rows, block(40)),
        (most, rows, block(42)),
        (columns, most, block(44)),
    ];
    // Matrices of all magnitudes, whose grids are not launched.
    for stream in [80, 90, 100] {
        let [columns, rows] = [0, 2].map(|more| {
            draw(stream + more, [1 << 30, u32::MAX]) >> draw(stream + more + 1, [0, 30])
        });
        matrices.push((columns, rows, block(stream + 4)));
    }
    (matrices, results)
}

impl HostExercise for Blocks {
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let (matrices, results) = calls(case);
        let counts: Vec<(u32, u32)> = results.iter().flat_map(|row| row.calls.clone()).collect();
        let request = blocks::Request {
            matrices: matrices.clone(),
            counts: counts.clone(),
        };
        let blocks::Reply { grids, blocks } =
            program.request(request, |reply: &blocks::Reply| {
                reply.blocks.len() == counts.len() && reply.grids.len() == matrices.len()
            })?;

        let mut outputs = Vec::new();
        let needed =
            |&(columns, rows, block): &Matrix| (columns.div_ceil(block.0), rows.div_ceil(block.1));
        let ((columns, rows, block), grid) = (matrices[0], grids[0]);
        let launched = needed(&matrices[0]);
        // Skip the launch if the grid is empty or far too large: the grid itself is reported as wrong.
        if (1..=launched.0 + 1).contains(&grid.0) && (1..=launched.1 + 1).contains(&grid.1) {
            let elements = case.width() * case.height();
            let visits = DeviceBuffer::from_slice(&vec![0_u32; elements])?;
            let kernel = bench.submission.kernel("visit")?;
            let stream = &bench.gpu.stream;
            // SAFETY: the arguments match the signature of `visit`, and `visits` has `columns * rows` elements.
            unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(visits.as_device_ptr(), columns, rows))
            }?;
            stream.synchronize()?;
            let shape = [case.height(), case.width()];
            outputs.push(Output::new("visits", &shape, &visits, vec![1; elements])?);
        }
        for (index, (matrix, grid)) in matrices.iter().zip(grids).enumerate() {
            let (columns, rows, block) = matrix;
            let name = match index {
                0 => "grid".to_owned(),
                _ => format!("grid({columns}, {rows}, {block:?})"),
            };
            let (needed, actual) = (needed(matrix), vec![grid.0, grid.1]);
            outputs.push(Output::from_values(
                &name,
                &[2],
                actual,
                vec![needed.0, needed.1],
            )?);
        }

        let expected = counts
            .iter()
            .map(|&(count, threads)| count.div_ceil(threads));
        let expected: Vec<u32> = expected.collect();
        let row = COUNTS_PER_ROW as usize;
        let pairs = blocks.chunks(row).zip(expected.chunks(row));
        for (result, (actual, expected)) in results.iter().zip(pairs) {
            outputs.push(Output::from_values(
                &result.name,
                &[row],
                actual.to_vec(),
                expected.to_vec(),
            )?);
        }
        Ok(outputs)
    }
}

/// The grader's host side of 10-pitched-copy.
pub struct PitchedCopy;

/// Draws the number of elements between the rows of the part: none in one case of four, so that the matrix is copied
/// whole, and many in another.
fn between_rows(case: &Case) -> usize {
    match case.integers(1, 1, 100)[0] as usize {
        0..25 => 0,
        few @ 25..75 => few - 24,
        many => 200 * (many - 74),
    }
}

impl HostExercise for PitchedCopy {
    fn run(&self, _bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let part = Part {
            width: case.width(),
            height: case.height(),
            stride: case.width() + between_rows(case),
        };
        let matrix = case.scaled_floats(0, part.stride * part.height);
        let rows = matrix.chunks(part.stride);
        let expected: Vec<f32> = rows.flat_map(|row| &row[..part.width]).copied().collect();

        // Longer rows than the part's, so that each has padding.
        let padding = 1 + case.integers(3, 1, 200)[0] as usize;
        let mut pitched = PitchedBuffer::<f32>::new_2d(part.width + padding, part.height)?;
        let filler = padding_byte(case);
        pitched.fill_8(filler)?;
        let pitch = pitched.pitch();
        let copy: pitched_copy::Reply =
            program.request(pitched_copy::Request { part, pitch }, |_| true)?;
        let reads = extent(&copy, copy.source_pitch);
        let writes = extent(&copy, copy.destination_pitch);
        if reads.is_none_or(|bytes| bytes > size_of_val(&matrix[..]))
            || writes.is_none_or(|bytes| bytes > pitch * part.height)
        {
            return compare_parameters(&copy, &part, pitch);
        }
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: matrix.as_ptr().cast(),
            srcDevice: 0,
            srcArray: ptr::null_mut(),
            srcPitch: copy.source_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: ptr::null_mut(),
            dstDevice: pitched.as_device_ptr().as_raw(),
            dstArray: ptr::null_mut(),
            dstPitch: copy.destination_pitch,
            WidthInBytes: copy.width,
            Height: copy.height,
        };
        // SAFETY: the copy reads within `matrix` and writes within the allocation of `pitched`, as the bounds
        // check above ensures.
        check(unsafe { sys::cuMemcpy2D_v2(&copy) })?;

        let rows = words(&pitched)?;
        let rows = rows.chunks(pitch / size_of::<f32>());
        let copied = rows.clone().flat_map(|row| &row[..part.width]);
        let copied: Vec<f32> = copied.map(|&word| f32::from_bits(word)).collect();
        let shape = [part.height, part.width];
        let filler = u32::from_ne_bytes([filler; 4]);
        let [en, zh] = explain_copy(&copied, &expected, &matrix, &part, filler);
        let padding: Vec<u32> = rows.flat_map(|row| &row[part.width..]).copied().collect();
        let padding_shape = [part.height, padding.len() / part.height];
        let untouched = vec![filler; padding.len()];
        Ok(vec![
            Output::from_values("copied", &shape, copied, expected)?.with_explanation(en, zh),
            Output::from_values("padding", &padding_shape, padding, untouched)?
                .padding_of("copied"),
        ])
    }
}

/// Explains the first wrong element by its position in the whole matrix, in English and Chinese. `filler` has the bits of
/// elements to which nothing was copied.
fn explain_copy(
    copied: &[f32],
    expected: &[f32],
    matrix: &[f32],
    part: &Part,
    filler: u32,
) -> [String; 2] {
    let is_wrong = |&index: &usize| copied[index] != expected[index];
    let Some(index) = (0..copied.len()).find(is_wrong) else {
        return Default::default();
    };
    let format_index =
        |index: usize, width: usize| format!("[{}][{}]", index / width, index % width);
    let (position, actual) = (format_index(index, part.width), copied[index]);
    if actual.to_bits() == filler {
        return [
            format!("Nothing was copied to {position}."),
            format!("没有任何内容复制到 {position}。"),
        ];
    }
    match matrix.iter().position(|&value| value == actual) {
        Some(origin) => {
            let origin = format_index(origin, part.stride);
            [
                format!("Element {position} of the copy is {origin} of the whole matrix."),
                format!("副本的元素 {position} 是整个矩阵的 {origin}。"),
            ]
        }
        None => [
            format!(
                "Element {position} of the copy is not an element of the matrix: not all of its \
                 bytes were copied."
            ),
            format!("副本的元素 {position} 不是矩阵的元素：它的字节没有全部复制。"),
        ],
    }
}

/// Returns the number of bytes from the first to the last byte of a copy's rows with this pitch; `None` on
/// overflow.
fn extent(copy: &Copy2d, pitch: usize) -> Option<usize> {
    let before = copy.height.saturating_sub(1).checked_mul(pitch)?;
    before.checked_add(copy.width)
}

/// Reports the parameters of a copy that is out of bounds, next to the expected ones.
fn compare_parameters(copy: &Copy2d, part: &Part, pitch: usize) -> Result<Vec<Output>> {
    let float = size_of::<f32>();
    let pairs = [
        ("destination_pitch", copy.destination_pitch, pitch),
        ("source_pitch", copy.source_pitch, part.stride * float),
        ("width", copy.width, part.width * float),
        ("height", copy.height, part.height),
    ];
    let number = |number: usize| vec![u32::try_from(number).unwrap_or(u32::MAX)];
    let output = |(name, actual, expected)| {
        Ok(Output::from_values(name, &[1], number(actual), number(expected))?.with_explanation(
            "The parameters of your copy. Pitches and the width are in bytes, the height in rows; \
             the width covers only the data to copy, without the padding of a row.",
            "你的复制操作的参数。pitch 和 width 以字节为单位，height 是行数；width \
             只算要复制的数据，不包括行末的补齐。",
        ))
    };
    pairs.into_iter().map(output).collect()
}

/// The grader's host side of 25-events.
pub struct Events;

/// The range from which the rounds of a usual launch are drawn. A usual launch takes about ten microseconds
/// on a GPU, and several times as long in some cases as in others.
const ROUNDS: [u32; 2] = [3000, 18_000];
/// The rounds of a usual launch in the case of size 1: it takes more than 255 microseconds.
const MANY_ROUNDS: [u32; 2] = [150_000, 160_000];

/// The durations of the first launch in cases of odd and even size, in hundredths of a usual one: a median that counts it
/// is wrong in one of them.
const FIRST_LAUNCH: [u32; 2] = [900, 30];
/// The duration of one sample in hundredths of a usual one, except in cases of size 1, where that would take too long.
const EXTREMELY_LONG: u32 = 10_000;
/// The ranges of launches that take much longer than usual, longer, shorter and much shorter, in hundredths of a usual
/// one, in two kinds of cases: the mean of the usual one's neighbours is not near it.
const MUCH_LONGER: [u32; 2] = [400, 1200];
const LONGER: [[u32; 2]; 2] = [[130, 160], [250, 300]];
const SHORTER: [[u32; 2]; 2] = [[30, 40], [60, 75]];
const MUCH_SHORTER: [u32; 2] = [15, 30];

impl HostExercise for Events {
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let out = bench.output::<f32>(THREADS as usize)?;
        let kernel = bench.submission.kernel("work")?;
        let stream = &bench.gpu.stream;
        let work = |rounds: u32| {
            // SAFETY: the arguments match the kernel's signature, and `out` has one element for each of its
            // `THREADS` threads.
            unsafe { launch!(kernel<<<1, THREADS, 0, stream>>>(out.as_device_ptr(), rounds)) }
        };
        let range = if case.n() == 1 { MANY_ROUNDS } else { ROUNDS };
        let usual = draw_range(case, 0, 1, range)[0];
        let events = timing::events(stream)?;
        work(usual)?;
        let expected = events.time(|| Ok(work(usual)?))?;

        let shares = shares(case);
        let samples = shares.len();
        let sorted = sample_times(&shares, expected);
        let rounds = |share: u32| usual * share / 100;
        let request = events::Request {
            ptx: program.ptx.clone(),
            samples,
            first: rounds(FIRST_LAUNCH[(case.n() + 1) % 2]),
            rounds: shares.into_iter().map(rounds).collect(),
        };
        let reply: events::Reply = program.request(request, |_| true)?;

        let mut outputs = Vec::new();
        let needed = 1 + samples as u32;
        if reply.launches != needed {
            let (actual, needed) = (vec![reply.launches], vec![needed]);
            outputs.push(Output::from_values("launches", &[1], actual, needed)?.with_explanation(
                "The number of kernel launches: one warm-up launch, because the first launch takes \
                 much longer, and one per sample.",
                "核函数的启动次数：先预热启动一次，不计时，因为第一次要慢得多；\
                 然后每个样本启动一次。",
            ));
        }
        let actual = vec![reply.milliseconds.unwrap_or(f32::NAN)];
        let [en, zh] = explain_time(actual[0], &sorted);
        let output = Output::from_values("milliseconds", &[1], actual, vec![expected])?;
        outputs.push(output.with_explanation(en, zh));
        Ok(outputs)
    }
}

/// Returns the approximate duration of each sample in milliseconds, sorted, given that of a usual launch.
fn sample_times(shares: &[u32], usual: f32) -> Vec<f32> {
    let mut shares = shares.to_vec();
    shares.sort_unstable();
    let times = shares.into_iter().map(|share| usual * share as f32 / 100.0);
    times.collect()
}

/// Explains a wrong time by comparing it with the durations of the samples, in English and Chinese.
fn explain_time(actual: f32, sorted: &[f32]) -> [String; 2] {
    let (shortest, longest) = (sorted[0], sorted[sorted.len() - 1]);
    let mean = sorted.iter().sum::<f32>() / sorted.len() as f32;
    let is_near = |time: f32| (actual / time - 1.0).abs() < 0.1;
    let (en, zh) = if actual.is_nan() || actual < shortest / 4.0 {
        (
            "This is shorter than any launch: the launch must be between the two events.",
            "这比任何一次启动都短：启动必须在两个事件之间。",
        )
    } else if actual < 1.5 * shortest {
        (
            "Your time is about the shortest sample.",
            "你的结果约为最短的样本。",
        )
    } else if is_near(longest) {
        (
            "Your time is about the longest sample.",
            "你的结果约为最长的样本。",
        )
    } else if is_near(mean) {
        (
            "Your time is about the mean of the samples.",
            "你的结果约为各样本的平均值。",
        )
    } else {
        (
            "Is each launch between its own two events, and do you sort the times before taking \
             the middle one?",
            "每次启动都在各自的两个事件之间吗？取中间值之前排序了吗？",
        )
    };
    [
        format!(
            "The samples take from {shortest:.4} to {longest:.4} ms; the median is required. {en}"
        ),
        format!("各样本用时在 {shortest:.4} 到 {longest:.4} 毫秒之间，要求的是中位数。{zh}"),
    ]
}

/// Draws the duration of each sample, in hundredths of a usual launch. Exactly one sample, at a random
/// position, is usual; equally many are longer and shorter, and the shorter ones come last, except for the first sample in
/// half of the cases. So only the median of all samples is correct: the mean, the first, the last and the median of the
/// first few samples are far from it, and the middle of the range is nearer to another sample in most cases.
fn shares(case: &Case) -> Vec<u32> {
    let kinds = case.integers(6, 2, 2);
    let [longer, shorter] = [LONGER, SHORTER].map(|ranges| ranges[kinds[0] as usize]);
    let half = case.n() + 1;
    let alternating = |streams: [u64; 2], ranges: [[u32; 2]; 2]| {
        let [even, odd] = [0, 1].map(|i| draw_range(case, streams[i], half, ranges[i]));
        let pairs = even.into_iter().zip(odd).enumerate();
        pairs.map(|(index, (even, odd))| if index % 2 == 0 { even } else { odd })
    };
    // In two of three cases, either the longer or the shorter samples are all near the usual one, so that the geometric mean
    // is far from the median.
    let skew = case.integers(7, 1, 3)[0];
    let much_longer = if skew == 0 { LONGER[0] } else { MUCH_LONGER };
    let much_shorter = if skew == 1 { SHORTER[1] } else { MUCH_SHORTER };
    let mut shares: Vec<u32> = alternating([1, 4], [much_longer, longer]).collect();
    // One sample spoils the mean.
    shares[0] = if case.n() > 1 {
        EXTREMELY_LONG
    } else {
        MUCH_LONGER[1]
    };
    shares.extend(alternating([2, 5], [much_shorter, shorter]));
    // Neither first nor last, and after more longer samples than shorter ones.
    let mut from = 1;
    if kinds[1] == 1 {
        shares.rotate_right(1);
        from = 3;
    }
    let index = draw_range(case, 3, 1, [from, 2 * half as u32 - 1])[0];
    shares.insert(index as usize, 100);
    shares
}

/// Draws `len` numbers from a range.
fn draw_range(case: &Case, stream: u64, len: usize, [from, to]: [u32; 2]) -> Vec<u32> {
    let drawn = case.integers(stream, len, to - from + 1);
    drawn.into_iter().map(|number| from + number).collect()
}

/// The grader's host side of 34-overlap.
pub struct Overlap;

/// The duration of each order, in microseconds.
const ORDER_MICROSECONDS: u32 = 10;
/// The maximum number of streams.
const MAX_STREAMS: u32 = 4;

/// The outcome of simulating the orders for a number of chunks.
#[derive(Debug, PartialEq, Eq)]
struct Simulation {
    /// The number of steps of each chunk that ran once, and certainly after the step before.
    steps: Vec<u32>,
    /// The time at which everything is done, in microseconds.
    end: u32,
    /// The number of orders for chunks that do not exist.
    strays: u32,
    /// The number of chunks whose results the host has waited for at the end.
    awaited: u32,
}

impl HostExercise for Overlap {
    fn run(&self, _bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let chunks = case.size[0];
        let request = overlap::Request {
            chunks: vec![chunks],
        };
        let overlap::Reply { orders, streams } = program
            .request(request, |reply: &overlap::Reply| {
                reply.orders.len() == 1 && reply.streams.len() == 1
            })?;
        let simulation = simulate(&orders[0], chunks);
        let count = case.n();
        // The optimum: three engines that are idle only at the start and the end.
        let optimum = (chunks + 2) * ORDER_MICROSECONDS;
        let at_most = |name, actual: u32, maximum: u32| {
            // A value within the limit is correct, so expect the value itself.
            Output::from_values(name, &[1], vec![actual], vec![actual.min(maximum)])
        };
        Ok(vec![
            Output::from_values("steps in order", &[count], simulation.steps, vec![3; count])?.with_explanation(
                "For each chunk: the number of its steps (copy to the device, kernel, copy back) \
                 that ran once and are ordered after the previous step; 9 if a step ran twice or \
                 possibly too early. Only steps in one stream are ordered.",
                "对每一块：它的各步（复制到设备、核函数、复制回来）中，有几步只做了一次，并且一定排在前一步之后；\
                 9 表示有一步重复了，或者可能过早执行。只有在同一个流中，先后顺序才有保证。",
            ),
            Output::from_values("steps of other chunks", &[1], vec![simulation.strays], vec![0])?.with_explanation(
                "The number of steps of chunks that do not exist: the chunks are 0 to `chunks - 1`. A copy of \
                 another reaches past the end of the memory.",
                "不存在的块有几步：块的编号是 0 到 `chunks - 1`。复制其他的块会越过内存的末尾。",
            ),
            Output::from_values("chunks waited for", &[1], vec![simulation.awaited], vec![chunks])?.with_explanation(
                "The number of chunks that your function has waited for when it returns. The \
                 results of the others may still be in transit: wait for every stream that you use.",
                "函数返回时，已经等待完成的块数。其余各块的结果可能还没有传回来：用到的每个流都要等待。",
            ),
            at_most("streams", streams[0], MAX_STREAMS)?.with_explanation(
                "The number of streams that you create; at most 4 are allowed. With more chunks, use \
                 the streams in turn.",
                "你创建的流的个数；最多 4 个。块数更多时，应轮流使用这些流。",
            ),
            at_most("microseconds", simulation.end, optimum)?.with_explanation(
                "The time at which everything is done, if each step takes 10 microseconds. Copies \
                 to the device, kernels and copies back can overlap. Which chunk's step waits for \
                 another chunk or for the host?",
                "假设每一步用 10 µs，全部完成的时刻。复制到设备、\
                 核函数和复制回来这三者可以同时进行。是哪一块的哪一步在等待另一块，或者在等待主机？",
            ),
        ])
    }
}

/// Simulates the orders on a device with one engine for copies to it, one for kernels and one for copies
/// back. An order starts once the host has issued it and the orders before it in its stream and on its engine
/// are done.
fn simulate(orders: &[Order], chunks: u32) -> Simulation {
    let mut engines = [0; 3];
    let mut streams: BTreeMap<Stream, u32> = BTreeMap::new();
    // The time until which the host has waited.
    let mut host = 0;
    let mut strays = 0;
    // For each stream, the number of orders given before the host last waited for it.
    let mut waits: BTreeMap<Stream, usize> = BTreeMap::new();
    // For each chunk, the number of steps so far, and the stream and number of the last step's order.
    let mut progress: Vec<(u32, Option<(Stream, usize)>)> = vec![(0, None); chunks as usize];
    for (number, &order) in orders.iter().enumerate() {
        let (engine, chunk, stream) = match order {
            Order::CopyIn(chunk, stream) => (0, chunk, stream),
            Order::Launch(chunk, stream) => (1, chunk, stream),
            Order::CopyOut(chunk, stream) => (2, chunk, stream),
            Order::Wait(stream) => {
                host = host.max(streams.get(&stream).copied().unwrap_or(0));
                waits.insert(stream, number);
                continue;
            }
        };
        let last = streams.entry(stream).or_default();
        let start = host.max(*last).max(engines[engine]);
        let end = start + ORDER_MICROSECONDS;
        (*last, engines[engine]) = (end, end);
        let Some((steps, before)) = progress.get_mut(chunk as usize) else {
            strays += 1;
            continue;
        };
        // Ordered after the step before: in the same stream, or issued after the host had waited for it. That it happens to
        // run later is not enough.
        let is_ordered = before
            .is_none_or(|(before, order)| before == stream || is_awaited(&waits, before, order));
        match *steps == engine as u32 && is_ordered {
            true => (*steps, *before) = (*steps + 1, Some((stream, number))),
            // Above the three steps of a chunk, so that the chunk stays wrong whatever follows.
            false => *steps = 9,
        }
    }
    let end = streams.values().copied().max().unwrap_or(0);
    let awaited = progress.iter().filter(|(steps, last)| {
        *steps == 3 && last.is_some_and(|(stream, order)| is_awaited(&waits, stream, order))
    });
    Simulation {
        awaited: awaited.count() as u32,
        steps: progress.iter().map(|(steps, _)| *steps).collect(),
        end,
        strays,
    }
}

/// Returns true if the host has waited for a stream since this order.
fn is_awaited(waits: &BTreeMap<Stream, usize>, stream: Stream, order: usize) -> bool {
    waits.get(&stream).is_some_and(|&wait| wait > order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_the_first_wrong_element_is_reported() {
        let part = Part {
            width: 2,
            height: 2,
            stride: 3,
        };
        let matrix = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let message =
            |copied: [f32; 4]| explain_copy(&copied, &[1.0, 2.0, 4.0, 5.0], &matrix, &part, 0);
        for (copied, expected) in [
            ([1.0, 2.0, 3.0, 4.0], "Element [1][0] of the copy is [0][2]"),
            ([1.0, 0.0, 4.0, 0.0], "Nothing was copied to [0][1]."),
            ([1.0, 2.5, 4.0, 5.0], "is not an element of the matrix"),
            ([1.0, 2.0, 4.0, 5.0], ""),
        ] {
            assert!(
                message(copied)[0].contains(expected),
                "{:?}",
                message(copied)
            );
        }
    }

    #[test]
    fn wrong_times_are_explained_by_the_samples() {
        let sorted = sample_times(&[400, 30, 100, 50, 350], 0.01);
        for (actual, message) in [
            (0.0, "between the two events"),
            (f32::NAN, "between the two events"),
            (0.0031, "shortest"),
            (0.039, "longest"),
            (0.0186, "the mean of the samples."),
            (0.005, "before taking the middle one"),
        ] {
            let [en, zh] = explain_time(actual, &sorted);
            assert!(
                en.contains(message) && en.contains("from 0.0030 to 0.0400 ms"),
                "{en}"
            );
            assert!(zh.contains("中位数"), "{zh}");
        }
    }

    #[test]
    fn only_the_median_is_correct() {
        for seed in 0..200 {
            let case = Case {
                size: vec![1 + seed as u32 % 5],
                seed,
            };
            let shares = shares(&case);
            let near = |share: u32| (80..=120).contains(&share);
            let median = |samples: &[u32]| {
                let mut samples = samples.to_vec();
                samples.sort_unstable();
                samples[samples.len() / 2]
            };
            let count = shares.len();
            assert!(count % 2 == 1 && count >= 5);
            assert_eq!(median(&shares), 100);
            assert!(!near(shares[0]) && !near(shares[count - 1]));
            assert!(!near(shares.iter().sum::<u32>() / count as u32));
            let others = shares.iter().filter(|&&share| share != 100);
            assert!(others.clone().all(|&share| !near(share)));
            for first in 1..count - 1 {
                assert!(first == 1 || first % 2 == 0 || !near(median(&shares[..first])));
            }
            // Count the first launch too, although the submission must discard its time.
            let cold = [&[FIRST_LAUNCH[0]], &shares[..count - 1]].concat();
            assert!(!near(median(&cold)));
            let middle = |first: u32| {
                let mut all = [&[first], &shares[..]].concat();
                all.sort_unstable();
                [all[count / 2], all[count / 2 + 1]]
            };
            let [long, short] = FIRST_LAUNCH.map(middle);
            assert!(!near(long[1]) && !near(short[0]));
            // Discard one sample too many at the beginning and add one at the end: the median is the same.
            let later = [&shares[1..], &shares[..1]].concat();
            assert_eq!(median(&later), 100);
        }
    }

    /// Parses orders in a short notation: `i0:1` copies chunk 0 in on stream 1.
    fn orders(text: &str) -> Vec<Order> {
        let stream = |number: &str| serde_json::from_str(number).unwrap();
        let order = |word: &str| {
            let (operation, target) = word.split_at(1);
            let (chunk, number) = target.split_once(':').unwrap_or(("0", target));
            let (chunk, stream) = (chunk.parse().unwrap(), stream(number));
            match operation {
                "i" => Order::CopyIn(chunk, stream),
                "k" => Order::Launch(chunk, stream),
                "o" => Order::CopyOut(chunk, stream),
                _ => Order::Wait(stream),
            }
        };
        text.split_whitespace().map(order).collect()
    }

    fn outcome_of(text: &str, chunks: u32) -> (Vec<u32>, u32, u32, u32) {
        let simulation = simulate(&orders(text), chunks);
        (
            simulation.steps,
            simulation.end,
            simulation.strays,
            simulation.awaited,
        )
    }

    #[test]
    fn orders_in_one_stream_are_serialized() {
        let one = "i0:0 k0:0 o0:0 i1:0 k1:0 o1:0 w0";
        assert_eq!(outcome_of(one, 2), (vec![3, 3], 60, 0, 2));
        let two = "i0:0 k0:0 o0:0 i1:1 k1:1 o1:1 w0 w1";
        assert_eq!(outcome_of(two, 2), (vec![3, 3], 40, 0, 2));
        assert_eq!(
            outcome_of("i0:0 k0:0 o0:0 i1:1 k1:1 o1:1 w0", 2),
            (vec![3, 3], 40, 0, 1)
        );
    }

    #[test]
    fn unordered_steps_are_wrong() {
        assert_eq!(outcome_of("i0:0 k0:1 o0:1 w1", 1).0, [9]);
        assert_eq!(outcome_of("i0:0 w0 k0:1 o0:1 w1", 1).0, [3]);
        assert_eq!(outcome_of("k0:0 i0:0 o0:0", 1).0, [9]);
        assert_eq!(outcome_of("i0:0 i0:0 k0:0 o0:0", 1).0, [9]);
        assert_eq!(outcome_of("i0:0 k0:0", 1).0, [2]);
        assert_eq!(outcome_of("i7:0", 1), (vec![0], 10, 1, 0));
        // The host waits for another stream, by chance as long as chunk 0's step takes.
        assert_eq!(outcome_of("i0:0 i1:1 w1 k0:2 o0:2 w2", 2).0[0], 9);
        assert_eq!(
            outcome_of("i0:0 k0:0 o0:0 i1:1 k1:1 o1:1 w1", 2).3,
            1,
            "chunk 1 ends after chunk 0"
        );
    }
}
