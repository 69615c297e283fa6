//! The command line that counts the same on a GPU with Nsight Compute, NVIDIA's profiler.
//!
//! Source of its options: Nsight Compute's documentation, "Nsight Compute CLI".

use cuda_driver::counters::{Agreement, METRICS, Metric};

use crate::flags::Detail;

/// Returns the command that profiles the command `run` at the GPU's current clock.
pub fn command(detail: Detail, run: &str) -> String {
    let options = match detail {
        Detail::Summary => {
            // The counters that only launches have come last.
            let (of_lines, of_launches): (Vec<&Metric>, Vec<&Metric>) = METRICS
                .iter()
                .filter(|metric| metric.agreement != Agreement::Custom)
                .partition(|metric| metric.counts_lines());
            let metrics = of_lines.into_iter().chain(of_launches);
            let names: Vec<&str> = metrics.map(|metric| metric.name).collect();
            format!("--metrics {}", names.join(","))
        }
        Detail::Lines => "--section SourceCounters --page source --print-source cuda,sass \
                          --import-source yes"
            .to_owned(),
    };
    format!("ncu {options} --clock-control none {run}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_lists_every_metric_of_nsight_compute() {
        let command = command(Detail::Summary, "program --repeat 0");
        let names = command.strip_prefix("ncu --metrics ").unwrap();
        let names: Vec<&str> = names.split(' ').next().unwrap().split(',').collect();
        assert_eq!(names.len(), METRICS.len() - 1);
        assert!(!names.contains(&"warps_at_barriers"), "{command}");
        assert!(names.contains(&"idc__requests.sum"), "{command}");
        assert!(names.contains(&"lts__t_sectors_srcunit_tex_lookup_miss.sum"));
        assert!(command.ends_with(" --clock-control none program --repeat 0"));
    }

    #[test]
    fn lines_have_a_different_command() {
        let command = command(Detail::Lines, "program");
        assert!(command.contains("--page source"), "{command}");
        assert!(!command.contains("--metrics"), "{command}");
    }
}
