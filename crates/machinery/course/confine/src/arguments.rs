//! Encoding of rules as arguments of the hidden command, which preserves paths with any bytes.

use std::ffi::{OsStr, OsString};

use crate::{Error, Rules};

/// The end of the rules' arguments.
const SEPARATOR: &str = "--";

/// Encodes rules as pairs of a keyword and a value, followed by [`SEPARATOR`].
pub fn encode(rules: &Rules) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |word: &str, value: &OsStr| all.extend([word.into(), value.to_owned()]);
    let lists = [
        ("read", &rules.read),
        ("write", &rules.write),
        ("execute", &rules.execute),
        ("device", &rules.devices),
    ];
    for (word, paths) in lists {
        for path in paths {
            add(word, path.as_os_str());
        }
    }
    let numbers = [
        ("processes", Some(u64::from(rules.processes))),
        ("computing", Some(rules.cpu_seconds)),
        ("memory", rules.memory),
        ("file", Some(rules.file)),
    ];
    for (word, number) in numbers {
        if let Some(number) = number {
            add(word, number.to_string().as_ref());
        }
    }
    all.push(SEPARATOR.into());
    all
}

/// Decodes rules. Returns them with the remaining arguments: the program and its arguments.
pub fn decode(
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<(Rules, Vec<OsString>), Error> {
    let mut rules = Rules::default();
    loop {
        let keyword = arguments.next().unwrap_or_default();
        if keyword == SEPARATOR {
            return Ok((rules, arguments.collect()));
        }
        let invalid = || Error::Arguments(format!("'{}'", keyword.display()));
        let value = arguments.next().ok_or_else(invalid)?;
        let number = || {
            let digits = value.to_str().and_then(|value| value.parse().ok());
            digits.ok_or_else(invalid)
        };
        match keyword.to_str().unwrap_or_default() {
            "read" => rules.read.push(value.into()),
            "write" => rules.write.push(value.into()),
            "execute" => rules.execute.push(value.into()),
            "device" => rules.devices.push(value.into()),
            "processes" => rules.processes = number()? == 1,
            "computing" => rules.cpu_seconds = number()?,
            "memory" => rules.memory = Some(number()?),
            "file" => rules.file = number()?,
            _ => return Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            read: vec!["a b".into(), "--".into()],
            write: vec!["\"\n".into()],
            execute: Vec::new(),
            devices: vec!["/dev/gpu0".into()],
            processes: true,
            cpu_seconds: 7,
            memory: Some(4 << 30),
            file: 9,
        }
    }

    #[test]
    fn rules_round_trip_with_any_paths() {
        let none = Rules::default();
        for rules in [rules(), none] {
            let program = ["clang", "--", "-x"].map(OsString::from);
            let all = encode(&rules).into_iter().chain(program.clone());
            let (decoded, rest) = decode(all).expect("valid arguments");
            assert_eq!(decoded, rules);
            assert_eq!(rest, program);
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for arguments in [
            &[][..],
            &["read"],
            &["read", "a"],
            &["computing", "soon", "--"],
            &["rights", "all", "--"],
        ] {
            let all = arguments.iter().map(OsString::from);
            assert!(decode(all).is_err(), "{arguments:?}");
        }
    }
}
