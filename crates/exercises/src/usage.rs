//! Parsing of the command line, and its error messages: clap's in English, those of this module in Chinese.

use std::error::Error as _;
use std::num::ParseIntError;
use std::process::ExitCode;

use chapter::lang::Lang;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};

use common::error::note;

use crate::flags::Flags;
use crate::output;
use crate::text::visible;

/// Parses the command line. If it is invalid or asks for help, prints the message and returns the exit code
/// instead.
///
/// # Errors
///
/// Fails if the help cannot be printed.
pub fn flags(lang: Lang) -> anyhow::Result<Result<Flags, ExitCode>> {
    let arguments = std::env::args_os();
    let result = command(lang)
        .try_get_matches_from(arguments)
        .and_then(|matches| Flags::from_arg_matches(&matches));
    let error = match result {
        Ok(flags) => return Ok(Ok(flags)),
        Err(error) => error,
    };
    match (lang, error.use_stderr()) {
        // Ignore a closed standard error.
        (Lang::En, true) => note(visible(error.to_string().trim_end())),
        (Lang::Zh, true) => note(visible(&format_chinese(&error))),
        (Lang::En, false) => output::text(&error.to_string())?,
        (Lang::Zh, false) => output::text(&placeholders(&error.to_string()))?,
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(output::EXIT_NOT_GRADED);
    Ok(Err(ExitCode::from(code)))
}

/// Returns clap's command with all options under one heading.
fn command(lang: Lang) -> Command {
    let heading = move |argument: Arg| {
        let heading = match argument.is_positional() {
            true => lang.pick("Arguments", "参数"),
            false => lang.pick("Options", "选项"),
        };
        argument.help_heading(heading)
    };
    let mut command = Flags::command().mut_args(heading);
    let names = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned());
    for name in names.collect::<Vec<_>>() {
        command = command.mut_subcommand(name, |subcommand| subcommand.mut_args(heading));
    }
    command
}

/// Translates the placeholders that clap itself inserts.
fn placeholders(help: &str) -> String {
    let help = help.replacen("Usage: ", "用法：", 1);
    let help = help.replacen("[OPTIONS]", "[选项]", 1);
    help.replacen("[COMMAND]", "[命令]", 1)
}

/// Formats an error in Chinese, followed by the usage.
fn format_chinese(error: &Error) -> String {
    let problem = describe(error).unwrap_or_else(|| error.kind().to_string());
    let mut message = format!("错误：{problem}");
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        message += &format!("\n\n{}", placeholders(usage.to_string().trim_end()));
    }
    message + "\n\n完整的说明：--help"
}

/// Describes an error; `None` for kinds that these flags cannot cause.
fn describe(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join("、")),
        _ => None,
    };
    let argument = || text(ContextKind::InvalidArg);
    let value = || text(ContextKind::InvalidValue);
    Some(match error.kind() {
        ErrorKind::UnknownArgument => format!("没有参数“{}”", argument()?),
        ErrorKind::InvalidSubcommand => {
            format!("没有命令“{}”", text(ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::InvalidValue if value()?.is_empty() => format!("“{}”缺少值", argument()?),
        ErrorKind::InvalidValue => {
            let valid = text(ContextKind::ValidValue)?;
            format!("“{}”不能是“{}”，可以是：{valid}", argument()?, value()?)
        }
        ErrorKind::ValueValidation => {
            let reason = explain_value(error);
            format!("“{}”不能是“{}”：{reason}", argument()?, value()?)
        }
        ErrorKind::MissingRequiredArgument => format!("缺少参数：{}", argument()?),
        ErrorKind::InvalidUtf8 => "参数不是 Unicode 文本".to_owned(),
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            Some(other) if Some(&other) != argument().as_ref() => {
                format!("“{}”不能与“{other}”同时使用", argument()?)
            }
            _ => format!("“{}”只能出现一次", argument()?),
        },
        _ => return None,
    })
}

/// Explains why a flag's value is invalid.
fn explain_value(error: &Error) -> String {
    let Some(source) = error.source() else {
        return "格式不对".to_owned();
    };
    if source.is::<ParseIntError>() {
        return "应为整数".to_owned();
    }
    let message = source.to_string();
    match message.split_once(" is not in ") {
        Some((_, range)) => format!("应在 {range} 之内"),
        // Our own value parsers already use Chinese.
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_for(arguments: &str) -> String {
        let arguments = arguments.split(' ').filter(|argument| !argument.is_empty());
        let arguments = ["exercises"].into_iter().chain(arguments);
        let result = command(Lang::Zh).try_get_matches_from(arguments);
        format_chinese(&result.expect_err("an error"))
    }

    #[test]
    fn errors_are_reported_in_chinese() {
        for (arguments, parts) in [
            ("--nope", &["没有参数“--nope”", "用法：exercises"][..]),
            ("chek", &["没有命令“chek”", "[选项] [命令]"]),
            ("check --seed", &["“--seed <NUMBER>”缺少值"]),
            ("check --seed many", &["“many”", "应为整数"]),
            ("check --seconds 0", &["“0”", "应在 1..=3600 之内"]),
            ("check 01 --all", &["“[NAME]...”", "“--all”", "同时使用"]),
            ("check --all --all", &["“--all”只能出现一次"]),
            ("reset", &["缺少参数：<NAME>", "用法：exercises reset"]),
            ("list --lang fr", &["“fr”", "可以是：en、zh"]),
            (
                "check --all --seed 1 --submissions x --shard 3/2",
                &["“3/2”", "K/N"],
            ),
        ] {
            let message = message_for(arguments);
            assert!(message.starts_with("错误："), "{arguments}: {message}");
            for part in parts {
                assert!(
                    message.contains(part),
                    "{arguments}: no '{part}' in {message}"
                );
            }
            let untranslated = ["error", "Usage", "For more"];
            assert!(
                !untranslated.iter().any(|word| message.contains(word)),
                "{message}"
            );
        }
    }

    #[test]
    fn options_have_one_heading() {
        for lang in [Lang::En, Lang::Zh] {
            let result = command(lang).try_get_matches_from(["exercises", "check", "--help"]);
            let help = result.expect_err("the help").to_string();
            let options = lang.pick("Options:", "选项:");
            assert_eq!(help.matches(options).count(), 1, "{help}");
            assert!(help.contains(lang.pick("Arguments:", "参数:")), "{help}");
        }
    }
}
