//! Tables of the counters of several launches side by side.

use cuda_driver::counters::{AccessCounts, Agreement, LaunchProfile, METRICS, Metric, Tally};
use cuda_driver::model::{OccupancyLimit, Resource};
use cuda_driver::{AccessClass, AccessSet, LaunchRecord, Memory};

use super::ProfiledLaunch;
use crate::lang::Lang;
use crate::number::{grouped, mean, milliseconds, percent};
use crate::text::{aligned, or_dash, table};

/// A figure derived from counters, listed after one of them.
struct Derived {
    after: Metric,
    en: &'static str,
    zh: &'static str,
    /// Computes the figure; `None` if it does not apply.
    value: fn(&Tally) -> Option<String>,
}

/// Requests to shared memory whose lanes are all inactive, as after a short predicated branch. Nsight Compute
/// counts them as instructions.
const NO_LANE: &str = "– without an active lane";
const NO_LANE_ZH: &str = "– 没有活跃线程的";

/// Cost of lanes that share an address: the L2 cache serializes them.
const TURNS: &str = "– output wavefronts per request";
const TURNS_ZH: &str = "– 每次请求的输出波前数";

/// Lists derived figures as `COUNTER, name, Chinese name => formula;`.
macro_rules! derived {
    ($($after:ident, $en:expr, $zh:expr => $value:expr;)*) => {
        &[$(Derived {
            after: Metric::$after,
            en: $en,
            zh: $zh,
            value: $value,
        }),*]
    };
}

const DERIVED: &[Derived] = derived! {
    GLOBAL_LOAD_SECTORS, "– sectors per request", "– 每次请求的扇区数" =>
        |tally| sectors(&tally.sum(AccessSet::loads(Memory::Global)));
    GLOBAL_STORE_SECTORS, "– sectors per request", "– 每次请求的扇区数" =>
        |tally| sectors(&tally.sum(AccessSet::stores(Memory::Global)));
    GLOBAL_LOAD_L1_HITS, "– hit rate", "– 命中率" => |tally| hits(&tally.sum(AccessSet::loads(Memory::Global)));
    CONSTANT_REQUESTS, "– requests per load", "– 每次读取的请求数" =>
        |tally| addresses(&tally[AccessClass::ConstantLoad]);
    CONSTANT_HITS, "– hit rate", "– 命中率" => |tally| constant_hits(&tally[AccessClass::ConstantLoad]);
    SHARED_LOADS, NO_LANE, NO_LANE_ZH => |tally| without_lanes(&tally[AccessClass::SharedLoad]);
    SHARED_LOAD_WAVEFRONTS, "– wavefronts per request", "– 每次请求的波前数" =>
        |tally| wavefronts(&tally.sum(AccessSet::loads(Memory::Shared)));
    SHARED_STORES, NO_LANE, NO_LANE_ZH => |tally| without_lanes(&tally[AccessClass::SharedStore]);
    SHARED_STORE_WAVEFRONTS, "– wavefronts per request", "– 每次请求的波前数" =>
        |tally| wavefronts(&tally.sum(AccessSet::stores(Memory::Shared)));
    GLOBAL_ATOMIC_WAVEFRONTS, TURNS, TURNS_ZH => |tally| turns(&tally[AccessClass::GlobalAtomic]);
    GLOBAL_REDUCTION_WAVEFRONTS, TURNS, TURNS_ZH => |tally| turns(&tally[AccessClass::GlobalReduction]);
    SHARED_ATOMIC_WAVEFRONTS, "– wavefronts per request", "– 每次请求的波前数" =>
        |tally| wavefronts(&tally[AccessClass::SharedAtomic]);
    THREAD_INSTRUCTIONS, "– active lanes of 32", "– 活跃线程数（共 32 个）" =>
        |tally| ratio(tally.thread_instructions, tally.instructions);
};

/// All resources, in the order of their rows.
const RESOURCES: [Resource; 8] = [
    Resource::Arithmetic,
    Resource::Issue,
    Resource::L1Shared,
    Resource::ConstantCache,
    Resource::L2,
    Resource::Memory,
    Resource::Latency,
    Resource::Launch,
];

/// Formats one column per launch. Rows that contain only zeros are omitted; the resource that bounds a launch
/// is marked.
pub fn side_by_side(launches: &[ProfiledLaunch], lang: Lang) -> String {
    let mut headers = vec![lang.pick("counter", "计数器")];
    headers.extend(launches.iter().map(|launched| launched.variant));
    let records: Vec<&LaunchRecord> = launches.iter().map(|launched| launched.launch).collect();
    let mut rows = Vec::new();
    for metric in METRICS {
        if is_counted(metric, &records) {
            rows.push(counter(metric, &records, lang));
            rows.extend(derived(metric, &records, lang));
        }
    }
    rows.extend(model(&records, lang));
    aligned(&headers, rows, |column| column > 0)
}

/// Formats a table of the counters that some launch has, with their names in Nsight Compute.
pub fn names(launches: &[ProfiledLaunch], lang: Lang) -> String {
    let records: Vec<&LaunchRecord> = launches.iter().map(|launched| launched.launch).collect();
    let mut rows = Vec::new();
    for metric in METRICS {
        if is_counted(metric, &records) && metric.agreement != Agreement::Custom {
            rows.push(vec![label(metric, lang), metric.name.to_owned()]);
        }
    }
    let headers = lang.pick(
        ["counter", "in Nsight Compute"],
        ["计数器", "Nsight Compute 中的名称"],
    );
    table(&headers, rows)
}

fn is_counted(metric: &Metric, records: &[&LaunchRecord]) -> bool {
    let mut profiles = records.iter().filter_map(|record| record.profile.as_ref());
    profiles.any(|profile| metric.launch_value(profile) > 0)
}

/// Returns the label of a counter. A counter that lines do not have is part of the counter above it.
fn label(metric: &Metric, lang: Lang) -> String {
    let name = lang.pick(metric.en, metric.zh);
    match metric.counts_lines() {
        true => name.to_owned(),
        false => format!("– {name}"),
    }
}

/// Returns the row of a counter.
fn counter(metric: &Metric, records: &[&LaunchRecord], lang: Lang) -> Vec<String> {
    let value = |profile: &LaunchProfile| grouped(metric.launch_value(profile));
    let cell = |record: &&LaunchRecord| or_dash(record.profile.as_deref().map(value));
    row(&label(metric, lang), records.iter().map(cell))
}

/// Returns the rows derived from a counter that apply to some launch.
fn derived<'a>(
    metric: &'a Metric,
    records: &'a [&LaunchRecord],
    lang: Lang,
) -> impl Iterator<Item = Vec<String>> + 'a {
    let matching = DERIVED
        .iter()
        .filter(|derived| derived.after.name == metric.name);
    matching.filter_map(move |derived| {
        let values = records.iter().map(|record| {
            let profile = record.profile.as_ref()?;
            (derived.value)(&profile.total)
        });
        let applies = values.clone().any(|value| value.is_some());
        applies.then(|| row(lang.pick(derived.en, derived.zh), values.map(or_dash)))
    })
}

/// Returns the rows on occupancy and on the busy time of each resource.
fn model(records: &[&LaunchRecord], lang: Lang) -> Vec<Vec<String>> {
    let occupancy = |record: &&LaunchRecord| {
        let occupancy = record.time.occupancy;
        localize!(lang, "{} of {}", "{} / {}"; occupancy.warps, occupancy.max_warps)
    };
    let limit = |record: &&LaunchRecord| occupancy_limit(record.time.occupancy.limit, lang);
    let mut rows = vec![
        row(
            lang.pick("warps per SM", "每个 SM 的线程束数"),
            records.iter().map(occupancy),
        ),
        row(
            lang.pick("– limited by", "– 受限于"),
            records.iter().map(limit),
        ),
        row(
            lang.pick("modelled time, ms", "模型估算时间（ms）"),
            records
                .iter()
                .map(|record| milliseconds(record.time.milliseconds)),
        ),
    ];
    for resource in RESOURCES {
        let busy = records.iter().map(|record| busy(record, resource));
        if busy.clone().any(|ms| ms.is_some()) {
            let cells = busy.zip(records).map(|(ms, record)| {
                let binding = record.time.binding == resource;
                let mark = if binding { "> " } else { "" };
                or_dash(ms.map(|ms| format!("{mark}{}", milliseconds(ms))))
            });
            rows.push(row(&format!("– {}", resource_name(resource, lang)), cells));
        }
    }
    rows
}

/// Returns the milliseconds that a resource is busy; `None` if it is not used.
fn busy(record: &LaunchRecord, resource: Resource) -> Option<f64> {
    let mut parts = record.time.resources.iter();
    let part = parts.find(|part| part.resource == resource)?;
    (part.milliseconds > 0.0).then_some(part.milliseconds)
}

/// Returns the name of a resource.
pub fn resource_name(resource: Resource, lang: Lang) -> String {
    let chinese = match resource {
        Resource::Arithmetic => "计算单元",
        Resource::Issue => "指令发射",
        Resource::L1Shared => "L1 缓存和共享内存",
        Resource::ConstantCache => "常量缓存",
        Resource::L2 => "L2 缓存",
        Resource::Memory => "设备内存",
        Resource::Latency => "延迟",
        Resource::Launch => "启动开销",
    };
    lang.pick(resource.to_string(), chinese.to_owned())
}

/// Returns the name of the limit of an occupancy.
fn occupancy_limit(limit: OccupancyLimit, lang: Lang) -> String {
    let chinese = match limit {
        OccupancyLimit::Threads => "线程数",
        OccupancyLimit::Blocks => "线程块数",
        OccupancyLimit::SharedMemory => "共享内存",
        OccupancyLimit::Registers => "寄存器",
        OccupancyLimit::Grid => "网格大小",
    };
    lang.pick(limit.to_string(), chinese.to_owned())
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [name.to_owned()].into_iter().chain(cells).collect()
}

fn ratio(sum: u64, count: u64) -> Option<String> {
    (count > 0).then(|| mean(sum, count))
}

fn sectors(accesses: &AccessCounts) -> Option<String> {
    ratio(accesses.sectors, accesses.requests)
}

fn wavefronts(accesses: &AccessCounts) -> Option<String> {
    ratio(accesses.wavefronts, accesses.requests)
}

fn turns(accesses: &AccessCounts) -> Option<String> {
    ratio(accesses.output_wavefronts, accesses.requests)
}

fn addresses(loads: &AccessCounts) -> Option<String> {
    ratio(loads.addresses, loads.requests)
}

/// Returns the hit rate of the constant cache.
fn constant_hits(loads: &AccessCounts) -> Option<String> {
    rate(loads.hits, loads.addresses)
}

/// Returns the hit rate of the L1 cache.
fn hits(accesses: &AccessCounts) -> Option<String> {
    rate(accesses.hits, accesses.sectors)
}

/// Returns the number of executed accesses in which no lane was active; `None` if there are none.
fn without_lanes(access: &AccessCounts) -> Option<String> {
    let without_lanes = access.issued.saturating_sub(access.requests);
    (without_lanes > 0).then(|| grouped(without_lanes))
}

fn rate(part: u64, all: u64) -> Option<String> {
    (all > 0).then(|| percent(part as f64 / all as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::sample;

    fn launched<'a>(variant: &'a str, launch: &'a LaunchRecord) -> ProfiledLaunch<'a> {
        ProfiledLaunch {
            case: String::new(),
            variant,
            launch,
        }
    }

    fn constant() -> LaunchRecord {
        let loads = AccessCounts {
            requests: 4000,
            addresses: 128_000,
            hits: 32_000,
            ..AccessCounts::default()
        };
        let total = Tally::of([(AccessClass::ConstantLoad, loads)]);
        let parts = [(Resource::ConstantCache, 0.9), (Resource::Issue, 0.05)];
        sample::launch(total, &parts)
    }

    fn global() -> LaunchRecord {
        let loads = AccessCounts {
            requests: 8000,
            sectors: 36_000,
            hits: 18_000,
            ..AccessCounts::default()
        };
        let total = Tally::of([(AccessClass::GlobalLoad, loads)]);
        let mut launch = sample::launch(total, &[(Resource::Issue, 1.0)]);
        launch.profile.as_mut().unwrap().l2_read_misses = 17_000;
        launch
    }

    #[test]
    fn launches_are_columns_and_rows_of_zeros_are_left_out() {
        let launches = [global(), constant()];
        let [global, constant] = &launches;
        let table = side_by_side(
            &[launched("global", global), launched("constant", constant)],
            Lang::En,
        );
        let expected = "\
| counter                        |   global | constant |
|--------------------------------|----------|----------|
| global load requests           |    8 000 |        0 |
| global load sectors            |   36 000 |        0 |
| – sectors per request          |      4.5 |        – |
| global load sectors, L1 hits   |   18 000 |        0 |
| – hit rate                     |     50 % |        – |
| sectors read from the L2 cache |   18 000 |        0 |
| – misses of a cold L2 cache    |   17 000 |        0 |
| constant requests              |        0 |  128 000 |
| – requests per load            |        – |       32 |
| constant requests, cache hits  |        0 |   32 000 |
| – hit rate                     |        – |     25 % |
| warps per SM                   | 64 of 64 | 64 of 64 |
| – limited by                   |  threads |  threads |
| modelled time, ms              |   1.0000 |   1.0000 |
| – instruction issue            | > 1.0000 |  0.05000 |
| – constant cache               |        – | > 0.9000 |";
        assert_eq!(table, expected);
        let table = side_by_side(&[launched("global", global)], Lang::Zh);
        for row in [
            "| 计数器 ",
            "| – 每次请求的扇区数 ",
            "| – 受限于 ",
            "| – 常量缓存 ",
        ] {
            assert_eq!(
                table.contains(row),
                row != "| – 常量缓存 ",
                "{row}: {table}"
            );
        }
    }

    #[test]
    fn shared_requests_without_an_active_lane_have_a_row() {
        let stored = |issued| {
            let stores = AccessCounts {
                requests: 1000,
                issued,
                wavefronts: 2000,
                ..AccessCounts::default()
            };
            let total = Tally::of([(AccessClass::SharedStore, stores)]);
            sample::launch(total, &[(Resource::Issue, 1.0)])
        };
        let launches = [stored(1000), stored(8000)];
        let table = side_by_side(
            &launches.each_ref().map(|launch| launched("one", launch)),
            Lang::En,
        );
        let expected = "\
| shared store instructions |    1 000 |    8 000 |
| – without an active lane  |        – |    7 000 |
| shared store wavefronts   |    2 000 |    2 000 |
| – wavefronts per request  |        2 |        2 |
";
        assert!(table.contains(expected), "{table}");
        // A row without any such request is omitted.
        let table = side_by_side(&[launched("one", &launches[0])], Lang::En);
        assert!(!table.contains(NO_LANE), "{table}");
    }

    #[test]
    fn atomics_have_separate_rows() {
        let on_global = AccessCounts {
            requests: 100,
            sectors: 3200,
            output_wavefronts: 3200,
            ..AccessCounts::default()
        };
        let on_shared = AccessCounts {
            requests: 100,
            wavefronts: 800,
            conflicts: 700,
            ..AccessCounts::default()
        };
        let total = Tally::of([
            (AccessClass::GlobalReduction, on_global),
            (AccessClass::SharedAtomic, on_shared),
        ]);
        let launch = sample::launch(total, &[(Resource::Issue, 1.0)]);
        let table = side_by_side(&[launched("one", &launch)], Lang::En);
        let expected = "\
| global reduction requests          |      100 |
| global reduction sectors           |    3 200 |
| global reduction output wavefronts |    3 200 |
| – output wavefronts per request    |       32 |
| shared atomic requests             |      100 |
| shared atomic wavefronts           |      800 |
| – wavefronts per request           |        8 |
| shared atomic bank conflicts       |      700 |
";
        assert!(table.contains(expected), "{table}");
        // No lane used an atomic's old value, so all atomics are reductions.
        assert!(!table.contains("global atomic"), "{table}");
    }

    #[test]
    fn names_are_listed_for_counted_metrics() {
        let launches = [global(), constant()];
        let table = names(
            &launches.each_ref().map(|launch| launched("one", launch)),
            Lang::En,
        );
        let count = table.lines().count() - 2;
        assert_eq!(count, 7, "{table}");
        for name in [
            "idc__requests.sum",
            "lts__t_sectors_srcunit_tex_lookup_miss.sum",
        ] {
            assert_eq!(table.matches(name).count(), 1, "{table}");
        }
    }

    #[test]
    fn every_derived_row_follows_an_existing_counter() {
        for derived in DERIVED {
            let mut metrics = METRICS.iter();
            assert!(metrics.any(|metric| metric.name == derived.after.name));
        }
        let order = [Metric::L2_READS.name, Metric::L2_MISSES.name];
        let mut pairs = METRICS.windows(2);
        assert!(pairs.any(|pair| [pair[0].name, pair[1].name] == order));
    }

    #[test]
    fn a_launch_without_counters_has_dashes() {
        let mut uncounted = constant();
        uncounted.profile = None;
        let counted = constant();
        let table = side_by_side(
            &[launched("one", &counted), launched("two", &uncounted)],
            Lang::En,
        );
        let row = table
            .lines()
            .find(|row| row.contains("| constant requests "));
        assert!(row.unwrap().trim_end().ends_with("– |"), "{table}");
    }
}
