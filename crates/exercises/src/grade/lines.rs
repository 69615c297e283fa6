//! The submission's source lines with their counters, marking those that cost a large share of the kernels'
//! time.

use chapter::profile::{Reader, cost, listing};
use cuda_driver::LaunchRecord;
use cuda_driver::model::Resource;

use super::{Submission, compile};
use crate::lang::Lang;
use crate::text::WIDTH;

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
        chinese: lang == Lang::Zh,
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

/// Returns the name of the resource that bounds a kernel.
fn resource_name(resource: Resource, lang: Lang) -> String {
    match lang {
        Lang::En => resource.to_string(),
        Lang::Zh => match resource {
            Resource::Arithmetic => "计算单元",
            Resource::Issue => "指令发射",
            Resource::L1Shared => "L1 缓存和共享内存",
            Resource::ConstantCache => "常量缓存",
            Resource::L2 => "L2 缓存",
            Resource::Memory => "设备内存",
            Resource::Latency => "延迟",
            Resource::Launch => "启动开销",
        }
        .to_owned(),
    }
}
