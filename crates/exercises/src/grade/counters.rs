//! The step `counters`: what the answer made the memory system do, beside what it needs.

use std::collections::BTreeMap;

use chapter::limit::{self, Span};
use chapter::number::{grouped, percent};
use common::timing;
use cuda_driver::LaunchRecord;
use cuda_driver::counters::METRICS;
use cust::memory::DeviceBuffer;

use super::{Counted, Failure, Stop, Verdict};
use crate::data::{Data, Step, Target};
use crate::host::{Bench, Case, Host};
use crate::lang::Lang;

/// Whether all targets are reached. On a GPU there are no launches to read off, and nothing to say.
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
    verdict.counters = all(launches);
    for target in &data.targets {
        let counted = match &target.counter {
            Some(name) => counted(target, name, launches, lang),
            None => share(target, host.bytes(case), bench, launches, lang)?,
        };
        verdict.targets.push(counted);
    }
    let both = data.targets.iter().zip(&verdict.targets);
    let missed = both.filter(|(_, counted)| !counted.reached);
    let said: Vec<String> = missed
        .map(|(target, counted)| format!("{}\n  {}", line(counted, lang), target.say.of(lang)))
        .collect();
    if said.is_empty() {
        return Ok(());
    }
    Err(Stop::Failed(Failure {
        step: Step::Counters,
        size: case.size.clone(),
        message: say!(
            lang,
            "The results are right. Now look at what the kernel does to the memory:\n\n{}",
            "结果正确。接下来看核函数对存储系统做了什么：\n\n{}";
            said.join("\n\n")
        ),
    }))
}

/// A counter beside its target, in a line.
pub fn line(counted: &Counted, lang: Lang) -> String {
    let value = match counted.counter.as_str() {
        SHARE => percent(counted.value),
        _ => grouped(counted.value as u64),
    };
    let kernel = match &counted.kernel {
        Some(kernel) => say!(lang, "{}: ", "{}："; kernel),
        None => String::new(),
    };
    say!(
        lang,
        "{}{}: {}, asked: {}",
        "{}{}：{}，要求：{}";
        kernel, plain(&counted.counter, lang), value, counted.asked
    )
}

const SHARE: &str = "share_of_limit";

fn counted(target: &Target, name: &str, launches: &[LaunchRecord], lang: Lang) -> Counted {
    let kernel = target.kernel.as_deref();
    let of = launches
        .iter()
        .filter(|launch| kernel.is_none_or(|kernel| kernel == launch.kernel));
    let profiles = of.filter_map(|launch| launch.profile.as_ref());
    let value = profiles
        .filter_map(|profile| profile.metric(name))
        .sum::<u64>();
    let (reached, asked) = match (target.at_most, target.at_least, target.equals) {
        (Some(most), _, _) => (
            value <= most,
            say!(lang, "at most {}", "至多 {}"; grouped(most)),
        ),
        (_, Some(least), _) => (
            value >= least,
            say!(lang, "at least {}", "至少 {}"; grouped(least)),
        ),
        (_, _, wanted) => (
            Some(value) == wanted,
            say!(lang, "exactly {}", "恰好 {}"; grouped(wanted.unwrap_or(0))),
        ),
    };
    Counted {
        counter: name.to_owned(),
        kernel: target.kernel.clone(),
        value: value as f64,
        asked,
        reached,
    }
}

/// The modelled time of a copy that moves the bytes which have to be moved, half of them in and half
/// out, over that of the kernels.
fn share(
    target: &Target,
    bytes: u64,
    bench: &Bench,
    launches: &[LaunchRecord],
    lang: Lang,
) -> anyhow::Result<Counted> {
    let half = usize::try_from(bytes / 2)?.max(1);
    // SAFETY: a copy may move any bytes, and nothing else looks at these.
    let ends = unsafe {
        [
            DeviceBuffer::<u8>::uninitialized(half)?,
            DeviceBuffer::<u8>::uninitialized(half)?,
        ]
    };
    let [from, to] = ends.each_ref().map(|buffer| Span {
        address: buffer.as_device_ptr().as_raw(),
        bytes: half,
    });
    let events = timing::events(&bench.gpu.stream)?;
    let copy = limit::copy(&bench.gpu, &events, 1, to, from)?.median_ms;
    let kernels: f64 = launches.iter().map(|launch| launch.time.milliseconds).sum();
    let value = copy / kernels;
    let asked = target.share_of_limit.unwrap_or(1.0);
    Ok(Counted {
        counter: SHARE.to_owned(),
        kernel: None,
        value,
        asked: say!(lang, "at least {}", "至少 {}"; percent(asked)),
        reached: value >= asked,
    })
}

/// All counters that are not 0, all launches together.
fn all(launches: &[LaunchRecord]) -> Vec<(String, u64)> {
    let mut sums = BTreeMap::new();
    for profile in launches.iter().filter_map(|launch| launch.profile.as_ref()) {
        for (place, metric) in METRICS.iter().enumerate() {
            *sums.entry(place).or_insert(0) += metric.value(&profile.total);
        }
    }
    sums.into_iter()
        .filter(|(_, sum)| *sum > 0)
        .map(|(place, sum)| (METRICS[place].name.to_owned(), sum))
        .collect()
}

/// A counter in plain words.
pub fn plain(name: &str, lang: Lang) -> &str {
    if name == SHARE {
        return lang.pick("share of the limit", "达到极限的比例");
    }
    let metric = METRICS.iter().find(|metric| metric.name == name);
    metric.map_or(name, |metric| lang.pick(metric.plain, metric.chinese))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_chinese_name() {
        for metric in METRICS {
            let name = plain(metric.name, Lang::Zh);
            assert!(!name.is_ascii(), "{}", metric.name);
        }
    }
}
