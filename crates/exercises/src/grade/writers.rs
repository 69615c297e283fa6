//! The thread and the line that wrote a wrong element, so that a student can follow one thread by hand.

use cuda_driver::{AccessClass, Direction, LaunchRecord, Memory, Traced, coordinates};

use super::checks::{at, who};
use super::{Answer, right};
use crate::data::Tolerance;
use crate::host::Output;
use crate::lang::Lang;

/// Describes the last write to the first wrong element of the outputs, using the traces of the launches.
/// Returns `None` if no element is wrong or its address is unknown.
pub fn of_first_wrong(
    outputs: &[Output],
    tolerance: Tolerance,
    launches: &[LaunchRecord],
    traces: &[(String, Vec<Traced>)],
    answer: &Answer,
    lang: Lang,
) -> Option<String> {
    let (output, index) = outputs
        .iter()
        .find_map(|output| Some((output, right::first_wrong(output, tolerance)?)))?;
    let address = output.address? + 4 * index as u64;
    let place = right::place(&output.shape, index);
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
        return Some(say!(
            lang,
            "No thread has written {}: it is what it was before the launch.",
            "没有线程写过 {}：它还是启动之前的值。";
            place
        ));
    };
    let block = coordinates(access.block, launch.grid);
    let thread = coordinates((access.warp * 32 + lane) as u64, launch.block);
    let who = who(&launch.kernel, block, Some(thread), lang);
    let head = match writers.len() {
        1 => say!(lang, "{} was written by:", "{} 由它写入："; place),
        many => say!(
            lang,
            "{} was written {} times, the last time by:",
            "{} 被写了 {} 次，最后一次由它写入：";
            place, many
        ),
    };
    Some(format!(
        "{head}\n{}",
        at(&who, "", &access.source, answer, lang)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;
    use crate::host::Values;
    use crate::host::sample::{EXACT, output};

    #[test]
    fn nobody_is_told_from_somebody() {
        let output = Output {
            address: Some(0x1000),
            ..output(
                &[3],
                Values::Unsigned(vec![1, 7, 3]),
                Values::Unsigned(vec![1, 2, 3]),
            )
        };
        let answer = Answer {
            shown: "a.cu".to_owned(),
            text: String::new(),
        };
        let said = |traces: &[(String, Vec<Traced>)]| {
            let outputs = std::slice::from_ref(&output);
            of_first_wrong(outputs, EXACT, &[], traces, &answer, Lang::En)
        };
        let nobody = "No thread has written [1]: it is what it was before the launch.";
        assert_eq!(said(&[]).as_deref(), Some(nobody));
        // A load is not a write.
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(said(&traces).as_deref(), Some(nobody));
    }
}
