//! The step `counters`: the submission's memory traffic compared with the exercise's targets, variables that must be in
//! constant memory, and the submission's source lines with their counters.

use std::collections::BTreeMap;

use chapter::lang::{Lang, Text};
use chapter::limit::{self, DeviceRange};
use chapter::number::{grouped, percent};
use chapter::profile::{Reader, cost, listing, resource_name};
use common::timing;
use cuda_driver::LaunchRecord;
use cuda_driver::counters::METRICS;
use cuda_driver::ptx::{self, ast::StateSpace};
use cust::memory::DeviceBuffer;

use super::{Costs, Counted, Failure, Stop, Submission, Verdict, compile};
use crate::data::{Data, Step, Target};
use crate::host::{Bench, Case, Host};
use crate::text::WIDTH;

/// Fails if a target is missed. On a GPU there are no launch records, so the step passes.
pub fn verdict(
    host: &dyn Host,
    bench: &Bench,
    data: &Data,
    case: &Case,
    launches: &[LaunchRecord],
    lang: Lang,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    if launches.is_empty() {
        return Ok(());
    }
    verdict.counters = nonzero_counters(launches);
    for target in &data.targets {
        let counted = match &target.counter {
            Some(counters) => measure(target, counters.names(), launches, lang),
            None => share_of_limit(target, host.bytes(case), bench, launches, lang)?,
        };
        verdict.targets.push(counted);
    }
    let pairs = data.targets.iter().zip(&verdict.targets);
    let missed: Vec<_> = pairs.filter(|(_, counted)| !counted.reached).collect();
    if missed.is_empty() {
        return Ok(());
    }
    let message = Text::from_fn(|lang| {
        let lines = missed
            .iter()
            .enumerate()
            .map(|(number, (target, counted))| {
                let required = format_bound(target, lang);
                let line = format_target(
                    &Counted {
                        required,
                        ..(*counted).clone()
                    },
                    lang,
                );
                // With many missed targets, explain only the first: they usually have one cause.
                match number == 0 || missed.len() <= 2 {
                    true => format!("{line}\n  {}", target.say.get(lang)),
                    false => line,
                }
            });
        localize!(
            lang,
            "The results are correct. Now look at the kernel's memory traffic:\n\n{}",
            "结果正确。接下来看核函数的访存情况：\n\n{}";
            lines.collect::<Vec<_>>().join("\n\n")
        )
    });
    Err(Stop::at_size(Step::Counters, case, message))
}

/// Adds the solution's counters to the submission's. The share of the limit is omitted, because it is a time,
/// which is reported separately.
pub fn add_solution(data: &Data, solution: &Costs, verdict: &mut Verdict) {
    let counters = data.targets.iter().zip(&solution.counters);
    for ((target, &value), submission) in counters.zip(&mut verdict.targets) {
        if target.counter.is_some() {
            submission.solution = Some(value as f64);
        }
    }
}

/// Returns the counter of each target; 0 for a share of the limit.
pub fn of_targets(data: &Data, launches: &[LaunchRecord]) -> Vec<u64> {
    let targets = data.targets.iter();
    let values = targets.map(|target| match &target.counter {
        Some(counters) => sum(target, counters.names(), launches),
        None => 0,
    });
    values.collect()
}

/// Fails if a counter at another size than the graded one is out of proportion: the bounds of a target grow with the number
/// of elements or with the solution's counter. `solution` has the solution's costs at both sizes. A quarter more or less is
/// permitted, because sizes may fit the kernel's blocks less well, and twice as much or half of it at sizes that are small or
/// of other proportions (`is_rough`).
pub fn verdict_in_proportion(
    data: &Data,
    [graded, case]: [&Case; 2],
    submission: &Costs,
    solution: [&Costs; 2],
    is_rough: bool,
) -> Result<(), Stop> {
    let tolerance = if is_rough { 2.0 } else { 1.25 };
    let elements = |case: &Case| {
        case.size
            .iter()
            .map(|&number| f64::from(number))
            .product::<f64>()
    };
    let growth = elements(case) / elements(graded);
    for (index, target) in data.targets.iter().enumerate() {
        let Some(counters) = &target.counter else {
            continue;
        };
        if target.only_near_graded && is_rough {
            continue;
        }
        let [at_graded, beyond] = solution.map(|costs| costs.counters[index]);
        let value = submission.counters[index];
        if !target.is_in_proportion(value, [at_graded, beyond], growth, tolerance) {
            let label = counters.names().join(SEPARATOR);
            let message = Text::from_fn(|lang| {
                localize!(
                    lang,
                    "The results are correct, and the counters reach their targets at the size {}, but at \
                     this size they are out of proportion:\n\n{}: {}; the solution: {}\n  {}\n\nWhich part \
                     of the kernel depends on the size?",
                    "结果正确，规模为 {} 时各计数器也达到了要求，但在这个规模下不成比例：\n\n{}：{}；参考答案：{}\
                     \n  {}\n\n核函数的哪一部分取决于规模？";
                    data.sizes.format(&graded.size), counter_label(&label, lang), grouped(value),
                    grouped(beyond), target.say.get(lang)
                )
            });
            return Err(Stop::at_size(Step::Counters, case, message));
        }
    }
    Ok(())
}

impl Target {
    /// Returns true if a counter at a size with `growth` times the elements of the graded size is within the bounds there.
    /// `solution` has the solution's counter at the graded size and at this one. `tolerance` is the factor by which more
    /// or less is permitted.
    fn is_in_proportion(
        &self,
        value: u64,
        solution: [u64; 2],
        growth: f64,
        tolerance: f64,
    ) -> bool {
        /// The largest number that makes no difference.
        const NEGLIGIBLE: f64 = 64.0;
        let value = value as f64;
        let [graded, beyond] = solution.map(|counter| counter as f64);
        let own_growth = if graded > 0.0 {
            beyond / graded
        } else {
            growth
        };
        let most = self.at_most.or(self.equals);
        let least = self.at_least.or(self.equals);
        most.is_none_or(|most| match most {
            0 => value <= beyond * tolerance,
            most => value <= most as f64 * growth.max(own_growth) * tolerance + NEGLIGIBLE,
        }) && least.is_none_or(|least| {
            value * tolerance + NEGLIGIBLE >= least as f64 * growth.min(own_growth)
        })
    }
}

/// Formats a counter and its target in one line.
pub fn format_target(counted: &Counted, lang: Lang) -> String {
    let value = match counted.counter.as_str() {
        SHARE_OF_LIMIT => percent(counted.value),
        _ => grouped(counted.value as u64),
    };
    let kernel = match &counted.kernel {
        Some(kernel) => localize!(lang, "{}: ", "{}："; kernel),
        None => String::new(),
    };
    localize!(
        lang,
        "{}{}: {}, required: {}",
        "{}{}：{}，要求：{}";
        kernel, counter_label(&counted.counter, lang), value, counted.required
    )
}

pub const SHARE_OF_LIMIT: &str = "share_of_limit";

/// The separator of the names of summed counters.
const SEPARATOR: &str = " + ";

/// Compares a sum of counters with its target.
fn measure(target: &Target, names: &[String], launches: &[LaunchRecord], lang: Lang) -> Counted {
    let value = sum(target, names, launches);
    Counted {
        counter: names.join(SEPARATOR),
        kernel: target.kernel.clone(),
        value: value as f64,
        required: format_bound(target, lang),
        reached: reached(target, value),
        solution: None,
    }
}

/// Returns the sum of counters over the launches that a target counts.
fn sum(target: &Target, names: &[String], launches: &[LaunchRecord]) -> u64 {
    let kernel = target.kernel.as_deref();
    let matching = launches
        .iter()
        .filter(|launch| kernel.is_none_or(|kernel| kernel == launch.kernel));
    let profiles = matching.filter_map(|launch| launch.profile.as_ref());
    profiles
        .flat_map(|profile| names.iter().filter_map(|name| profile.metric(name)))
        .sum()
}

fn reached(target: &Target, value: u64) -> bool {
    target.at_most.is_none_or(|maximum| value <= maximum)
        && target.at_least.is_none_or(|minimum| value >= minimum)
        && target.equals.is_none_or(|exact| value == exact)
}

/// Formats a target.
fn format_bound(target: &Target, lang: Lang) -> String {
    if let Some(share) = target.share_of_limit {
        return localize!(lang, "at least {}", "至少 {}"; percent(share));
    }
    match (target.at_least, target.at_most, target.equals) {
        (Some(minimum), Some(maximum), _) if minimum < maximum => {
            let (minimum, maximum) = (grouped(minimum), grouped(maximum));
            localize!(lang, "from {} to {}", "{} 到 {}"; minimum, maximum)
        }
        (_, Some(maximum), _) => localize!(lang, "at most {}", "至多 {}"; grouped(maximum)),
        (Some(minimum), _, _) => localize!(lang, "at least {}", "至少 {}"; grouped(minimum)),
        (_, _, exact) => localize!(lang, "exactly {}", "恰好 {}"; grouped(exact.unwrap_or(0))),
    }
}

/// Computes the share of the limit: the modelled time of a copy that moves the required bytes, half in and
/// half out, divided by the kernels' time.
fn share_of_limit(
    target: &Target,
    bytes: u64,
    bench: &Bench,
    launches: &[LaunchRecord],
    lang: Lang,
) -> anyhow::Result<Counted> {
    let half = usize::try_from(bytes / 2)?.max(1);
    // SAFETY: both buffers are only the ends of a copy, for which any bytes are valid, and are never read
    // otherwise.
    let ends = unsafe {
        [
            DeviceBuffer::<u8>::uninitialized(half)?,
            DeviceBuffer::<u8>::uninitialized(half)?,
        ]
    };
    let [from, to] = ends.each_ref().map(|buffer| DeviceRange {
        address: buffer.as_device_ptr().as_raw(),
        bytes: half,
    });
    let events = timing::events(&bench.gpu.stream)?;
    let copy = limit::copy(&bench.gpu, &events, 1, to, from)?.median_ms;
    let kernels: f64 = launches.iter().map(|launch| launch.time.milliseconds).sum();
    let value = copy / kernels;
    Ok(Counted {
        counter: SHARE_OF_LIMIT.to_owned(),
        kernel: None,
        value,
        required: format_bound(target, lang),
        reached: value >= target.share_of_limit.unwrap_or(1.0),
        solution: None,
    })
}

/// Sums all nonzero counters over all launches.
fn nonzero_counters(launches: &[LaunchRecord]) -> Vec<(String, u64)> {
    let mut sums = BTreeMap::new();
    for profile in launches.iter().filter_map(|launch| launch.profile.as_ref()) {
        for (index, metric) in METRICS.iter().enumerate() {
            *sums.entry(index).or_insert(0) += metric.value(&profile.total);
        }
    }
    sums.into_iter()
        .filter(|(_, sum)| *sum > 0)
        .map(|(index, sum)| (METRICS[index].name.to_owned(), sum))
        .collect()
}

/// Returns the descriptive name of a counter or of a sum of counters.
pub fn counter_label(names: &str, lang: Lang) -> String {
    let labels = names.split(SEPARATOR).map(|name| {
        if name == SHARE_OF_LIMIT {
            return lang.pick("share of the limit", "达到极限的比例");
        }
        let metric = METRICS.iter().find(|metric| metric.name == name);
        metric.map_or(name, |metric| lang.pick(metric.en, metric.zh))
    });
    labels.collect::<Vec<_>>().join(SEPARATOR)
}

/// Fails if a variable that the exercise names is not in constant memory.
pub fn check_constants(data: &Data, ptx: &str, case: &Case) -> Result<(), Stop> {
    let mut names = data.constants.iter();
    let Some(name) = names.find(|name| !is_constant(ptx, name)) else {
        return Ok(());
    };
    Err(Stop::Failed(Failure {
        step: Step::Counters,
        kind: None,
        size: case.size.clone(),
        message: text!(
            "The results are correct, but the variable `{0}` is not in constant memory, as \
             this exercise requires: declare it as `__constant__ … {0}`, outside of all \
             functions.",
            "结果正确，但变量 `{0}` 不在常量内存中，不符合本题的要求：请在所有函数之外声明 \
             `__constant__ … {0}`。";
            name
        ),
    }))
}

/// Returns true if the PTX declares a constant variable of this name.
fn is_constant(ptx: &str, name: &str) -> bool {
    let Ok(module) = ptx::parse(ptx) else {
        return false;
    };
    let mut variables = module.variables.iter();
    variables.any(|variable| variable.name == name && variable.space == StateSpace::Const)
}

/// Formats the lines of the submission, kernel by kernel.
pub fn format_lines(launches: &[LaunchRecord], submission: &Submission, lang: Lang) -> String {
    let mut kernels: Vec<LaunchRecord> = Vec::new();
    for launch in launches {
        match kernels
            .iter_mut()
            .find(|record| record.kernel == launch.kernel)
        {
            Some(record) => record.add(launch),
            None => kernels.push(launch.clone()),
        }
    }
    let file_name = submission
        .display_name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    let source = |file: &str| {
        let is_submission = file == compile::FILE_NAME;
        let lines = is_submission.then(|| {
            submission
                .text
                .lines()
                .map(|line| line.replace('\t', "    "))
        });
        let lines = lines.map(Iterator::collect);
        lines.ok_or_else(|| localize!(lang, "In {}:", "在 {} 中："; file))
    };
    let reader = Reader {
        width: WIDTH,
        lang,
        text: &source,
    };
    let kernel = |launch: &LaunchRecord| {
        let profile = launch.profile.as_ref()?;
        let binding = launch.time.binding;
        let cost = cost::for_resource(binding, &profile.total);
        let head = localize!(
            lang,
            "`{}` is bound by {}; percentages are shares of the {}, and > marks lines with 10 % or \
             more.",
            "`{}` 的瓶颈是{}；占比按{}计算，> 标出占 10 % 以上的行。";
            launch.kernel, resource_name(binding, lang), lang.pick(cost.unit, cost.unit_zh)
        );
        let lines = listing(profile, binding, &reader).replace(compile::FILE_NAME, file_name);
        Some(format!("{head}\n{lines}"))
    };
    let kernels: Vec<String> = kernels.iter().filter_map(kernel).collect();
    kernels.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_chinese_name() {
        for metric in METRICS {
            let name = counter_label(metric.name, Lang::Zh);
            assert!(!name.is_ascii(), "{}", metric.name);
        }
    }

    fn target(bounds: &str) -> Target {
        toml::from_str(&format!(
            "counter = \"idc__requests.sum\"\n{bounds}\nsay = {{ en = \"\", zh = \"\" }}"
        ))
        .expect("a target")
    }

    #[test]
    fn sums_are_named_after_their_counters() {
        let names = "smsp__inst_executed_op_shared_ld.sum + smsp__inst_executed_op_shared_atom.sum";
        let en = "shared load instructions + shared atomic requests";
        assert_eq!(counter_label(names, Lang::En), en);
        let zh = "共享内存读取指令数 + 共享内存原子操作请求数";
        assert_eq!(counter_label(names, Lang::Zh), zh);
    }

    #[test]
    fn bounds_are_formatted_and_enforced() {
        let both = "at_least = 7\nat_most = 9";
        for (bounds, expected, within, outside) in [
            ("at_most = 1000", "at most 1 000", [0, 1000], [1001; 2]),
            ("at_least = 7", "at least 7", [7, 8], [6; 2]),
            (both, "from 7 to 9", [7, 9], [6, 10]),
            ("equals = 0", "exactly 0", [0; 2], [1; 2]),
        ] {
            let target = target(bounds);
            assert_eq!(format_bound(&target, Lang::En), expected);
            assert_eq!(within.map(|value| reached(&target, value)), [true; 2]);
            assert_eq!(outside.map(|value| reached(&target, value)), [false; 2]);
        }
    }

    #[test]
    fn counters_beyond_the_graded_size_are_in_proportion() {
        let at_most = target("at_most = 1000");
        // Twice the elements, of which the solution counts 800 and 1600, or 800 both times.
        for solution in [[800, 1600], [800, 800]] {
            assert!(at_most.is_in_proportion(2500, solution, 2.0, 1.25));
            assert!(!at_most.is_in_proportion(2600, solution, 2.0, 1.25));
            assert!(at_most.is_in_proportion(2600, solution, 2.0, 2.0));
        }
        // A solution whose counter grows faster, for example with the square.
        assert!(at_most.is_in_proportion(5000, [800, 3200], 2.0, 1.25));
        let exact = target("equals = 1000");
        for (value, expected) in [(1500, false), (1600, true), (2500, true), (2600, false)] {
            assert_eq!(
                exact.is_in_proportion(value, [1000, 2000], 2.0, 1.25),
                expected,
                "{value}"
            );
        }
        let none = target("equals = 0");
        assert!(
            none.is_in_proportion(0, [0, 0], 2.0, 1.25)
                && !none.is_in_proportion(1, [0, 0], 2.0, 1.25)
        );
    }

    #[test]
    fn constants_are_distinguished_from_other_variables() {
        let ptx = "\
.version 6.4
.target sm_52
.address_size 64
.visible .const .align 4 .b8 weights[128];
.const .align 4 .u32 gain = 3;
.visible .global .align 4 .b8 table[16];
.const .align 8 .u64 places[1] = {table};
.entry zz() {
    /* .const level */
    ret;
}
.const .align 4 .b8 x[4]; // other
";
        assert!(is_constant(ptx, "weights") && is_constant(ptx, "gain"));
        for name in ["table", "weight", "level", "other"] {
            assert!(!is_constant(ptx, name), "{name}");
        }
    }
}
