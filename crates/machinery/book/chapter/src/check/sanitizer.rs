//! Command lines that run the same checks on a GPU with compute-sanitizer, NVIDIA's tool.
//!
//! Source of its options: Compute Sanitizer's documentation, "Command Line Options".

use cuda_driver::{Check, Checks};

/// Returns one command line per tool that checks the command `run`.
pub fn commands(checks: Checks, run: &str) -> String {
    let tools = checks.enabled().filter_map(|check| match check {
        Check::Memory if checks.leak => Some("memcheck --leak-check full"),
        Check::Memory => Some("memcheck"),
        Check::Init => Some("initcheck"),
        Check::Race => Some("racecheck --racecheck-report all"),
        Check::Sync => Some("synccheck"),
        Check::Leak if checks.memory => None,
        Check::Leak => Some("memcheck --leak-check full"),
        // compute-sanitizer has no tool for host accesses.
        Check::Host => None,
    });
    let lines = tools.map(|tool| format!("compute-sanitizer --tool {tool} {run}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_a_tool_of_its_own() {
        let run = "add --n 5 --repeat 0";
        let of = |checks: &str| commands(checks.parse().unwrap(), run);
        assert_eq!(
            of("sync"),
            format!("compute-sanitizer --tool synccheck {run}")
        );
        assert_eq!(
            of("leak"),
            format!("compute-sanitizer --tool memcheck --leak-check full {run}")
        );
        assert_eq!(of("all").lines().count(), 4);
        assert_eq!(of("mem,race").lines().count(), 2);
    }
}
