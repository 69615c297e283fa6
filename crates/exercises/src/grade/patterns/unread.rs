//! Variables of the submission that the host sets but no thread reads, so that they cannot affect the results.

use cuda_driver::Traced;

use crate::host::Place;
use crate::lang::Lang;

/// Lists the variables that no traced access reads; `None` if there are none.
pub fn said(variables: &[Place], traces: &[(String, Vec<Traced>)], lang: Lang) -> Option<String> {
    let accesses = || traces.iter().flat_map(|(_, trace)| trace);
    let touches = |access: &Traced, place: &Place| {
        let ends = place.address + place.bytes;
        let mut lanes = access.lanes();
        lanes.any(|(_, from)| from < ends && place.address < from + access.bytes)
    };
    let unread = variables
        .iter()
        .filter(|place| !accesses().any(|access| touches(access, place)));
    let names: Vec<String> = unread.map(|place| format!("`{}`", place.name)).collect();
    if names.is_empty() {
        return None;
    }
    Some(say!(
        lang,
        "No thread has read the variable {}, which the host sets.",
        "没有线程读过主机端设置的变量 {}。";
        names.join(lang.pick(", ", "、"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;

    #[test]
    fn a_variable_that_nobody_read_is_named() {
        let place = |name: &str, address| Place {
            name: name.to_owned(),
            address,
            bytes: 8,
        };
        let variables = [place("a", 0x1000), place("b", 0x2000)];
        let said = |traces: &[(String, Vec<Traced>)]| said(&variables, traces, Lang::En);
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(
            said(&traces).as_deref(),
            Some("No thread has read the variable `b`, which the host sets.")
        );
        assert!(said(&[]).unwrap().contains("`a`, `b`"));
        let both = [("k".to_owned(), vec![load(0x1004), load(0x2000)])];
        assert_eq!(said(&both), None);
    }
}
