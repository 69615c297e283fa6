//! Variables of the submission that the host sets but no thread reads, so that they cannot affect the results.

use cuda_driver::Traced;

use crate::host::InputVariable;
use crate::lang::Lang;

/// Lists the variables that no traced access reads; `None` if there are none.
pub fn describe(
    variables: &[InputVariable],
    traces: &[(String, Vec<Traced>)],
    lang: Lang,
) -> Option<String> {
    let accesses = || traces.iter().flat_map(|(_, trace)| trace);
    let touches = |access: &Traced, variable: &InputVariable| {
        let end = variable.address + variable.bytes;
        let mut lanes = access.lanes();
        lanes.any(|(_, address)| address < end && variable.address < address + access.bytes)
    };
    let unread = variables
        .iter()
        .filter(|variable| !accesses().any(|access| touches(access, variable)));
    let names: Vec<String> = unread
        .map(|variable| format!("`{}`", variable.name))
        .collect();
    if names.is_empty() {
        return None;
    }
    Some(localize!(
        lang,
        "No thread read the variable {}, which the host sets.",
        "没有线程读取主机端设置的变量 {}。";
        names.join(lang.pick(", ", "、"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;

    #[test]
    fn unread_variables_are_listed() {
        let variable = |name: &str, address| InputVariable {
            name: name.to_owned(),
            address,
            bytes: 8,
        };
        let variables = [variable("a", 0x1000), variable("b", 0x2000)];
        let message = |traces: &[(String, Vec<Traced>)]| describe(&variables, traces, Lang::En);
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(
            message(&traces).as_deref(),
            Some("No thread read the variable `b`, which the host sets.")
        );
        assert!(message(&[]).unwrap().contains("`a`, `b`"));
        let both = [("k".to_owned(), vec![load(0x1004), load(0x2000)])];
        assert_eq!(message(&both), None);
    }
}
