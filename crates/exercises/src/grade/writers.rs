//! The thread and the line that wrote a wrong element, so that a student can follow one thread by hand.

use cuda_driver::{AccessClass, Direction, LaunchRecord, Memory, Traced, coordinates};

use super::checks::{format_access, format_thread};
use super::{Submission, results};
use crate::data::Tolerance;
use crate::host::Output;
use crate::lang::Lang;

/// Describes the last write to the first wrong element of the outputs, using the traces of the launches.
/// Returns `None` if no element is wrong or its address is unknown.
pub fn describe_first_wrong(
    outputs: &[Output],
    tolerance: Tolerance,
    launches: &[LaunchRecord],
    traces: &[(String, Vec<Traced>)],
    submission: &Submission,
    lang: Lang,
) -> Option<String> {
    let (output, index) = outputs
        .iter()
        .find_map(|output| Some((output, results::first_wrong(output, tolerance)?)))?;
    let address = output.address? + 4 * index as u64;
    let location = results::format_index(&output.shape, index);
    let mut writers = Vec::new();
    for (kernel, trace) in traces {
        let Some(launch) = launches.iter().find(|launch| launch.kernel == *kernel) else {
            continue;
        };
        for access in trace {
            let writes = AccessClass::of(access.kind, access.memory)
                .is_some_and(|class| class.row().direction != Direction::Reads);
            if access.memory != Memory::Global || !writes {
                continue;
            }
            for (lane, from) in access.lanes() {
                if (from..from + access.bytes).contains(&address) {
                    writers.push((launch, access, lane));
                }
            }
        }
    }
    let Some((launch, access, lane)) = writers.last() else {
        return Some(localize!(
            lang,
            "No thread wrote {}: it has the value from before the launch.",
            "没有线程写入 {}：它仍是启动之前的值。";
            location
        ));
    };
    let block = coordinates(access.block, launch.grid);
    let thread = coordinates((access.warp * 32 + lane) as u64, launch.block);
    let thread = format_thread(&launch.kernel, block, Some(thread), lang);
    let head = match writers.len() {
        1 => localize!(lang, "{} was written by:", "写入 {} 的是："; location),
        count => localize!(
            lang,
            "{} was written {} times, the last time by:",
            "{} 被写入 {} 次，最后一次写入它的是：";
            location, count
        ),
    };
    Some(format!(
        "{head}\n{}",
        format_access(&thread, "", &access.source, submission, lang)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;
    use crate::host::Values;
    use crate::host::sample::{EXACT, output};

    #[test]
    fn elements_without_a_writer_are_reported() {
        let output = Output {
            address: Some(0x1000),
            ..output(
                &[3],
                Values::Unsigned(vec![1, 7, 3]),
                Values::Unsigned(vec![1, 2, 3]),
            )
        };
        let submission = Submission {
            display_name: "a.cu".to_owned(),
            text: String::new(),
        };
        let message_for = |traces: &[(String, Vec<Traced>)]| {
            let outputs = std::slice::from_ref(&output);
            describe_first_wrong(outputs, EXACT, &[], traces, &submission, Lang::En)
        };
        let unwritten = "No thread wrote [1]: it has the value from before the launch.";
        assert_eq!(message_for(&[]).as_deref(), Some(unwritten));
        // A load is not a write.
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(message_for(&traces).as_deref(), Some(unwritten));
    }
}
