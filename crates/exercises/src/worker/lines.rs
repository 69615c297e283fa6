//! A process's output, in which its own messages are mixed with what the submission prints.

use std::io::BufRead;

use answers::protocol::REPLY;

use super::job::{Line, Message};

/// The maximum length of a line in bytes; the rest is dropped. A line with a verdict is far shorter.
const MAX_LINE: usize = 1 << 20;

/// The maximum amount of the submission's output that is recorded, in bytes.
const MAX_PRINTED: usize = 2000;

/// A line of a process's output.
#[derive(Debug)]
pub enum OutputLine<M = Message> {
    /// A message of the process itself.
    Message(M),
    /// A line printed by the submission, including its line break.
    Printed(String),
}

/// Parses the process's own messages; `None` for other lines.
type Parser<M> = Box<dyn Fn(&[u8]) -> Option<M> + Send>;

/// An iterator over the lines of a process's output.
pub struct Lines<R, M = Message> {
    from: R,
    parse: Parser<M>,
    printed: usize,
}

impl<R> Lines<R> {
    /// Reads the output of a worker with this token.
    pub fn new(from: R, token: String) -> Self {
        let parse: Parser<Message> = Box::new(move |line| {
            let line: Line = serde_json::from_slice(line).ok()?;
            (line.token == token).then_some(line.message)
        });
        Lines {
            from,
            parse,
            printed: 0,
        }
    }
}

impl<R> Lines<R, Vec<u8>> {
    /// Reads the output of the program around a Rust submission, whose replies are returned without their
    /// prefix.
    pub fn replies(from: R) -> Self {
        let parse: Parser<Vec<u8>> =
            Box::new(|line| Some(line.strip_prefix(REPLY.as_bytes())?.to_owned()));
        Lines {
            from,
            parse,
            printed: 0,
        }
    }
}

impl<R: BufRead, M> Lines<R, M> {
    /// Returns the next line without its line break, cut to [`MAX_LINE`] bytes.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let part = self.from.fill_buf().ok()?;
            if part.is_empty() {
                return None;
            }
            let end = part.iter().position(|&byte| byte == b'\n');
            let length = end.unwrap_or(part.len());
            let remaining = MAX_LINE - line.len();
            line.extend_from_slice(&part[..length.min(remaining)]);
            self.from.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                return Some(line);
            }
        }
    }
}

impl<R: BufRead, M> Iterator for Lines<R, M> {
    type Item = OutputLine<M>;

    fn next(&mut self) -> Option<OutputLine<M>> {
        loop {
            let line = self.line()?;
            if let Some(message) = (self.parse)(&line) {
                return Some(OutputLine::Message(message));
            }
            if !line.is_empty() && self.printed < MAX_PRINTED {
                let text = String::from_utf8_lossy(&line);
                let recorded: String = text.chars().take(MAX_PRINTED - self.printed).collect();
                self.printed += line.len();
                return Some(OutputLine::Printed(format!("{recorded}\n")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_lines(text: &str) -> Vec<OutputLine> {
        Lines::new(text.as_bytes(), "secret".to_owned()).collect()
    }

    #[test]
    fn messages_need_the_token() {
        let line = |token: &str| format!(r#"{{"token":"{token}","message":{{"broken":"why"}}}}"#);
        let text = format!("hello\n{}\n{}\n", line("guessed"), line("secret"));
        let lines = read_lines(&text);
        assert!(matches!(&lines[0], OutputLine::Printed(text) if text == "hello\n"));
        assert!(matches!(&lines[1], OutputLine::Printed(text) if text.contains("guessed")));
        assert!(
            matches!(&lines[2], OutputLine::Message(Message::InternalError(reason)) if reason == "why")
        );
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn replies_are_distinguished_from_output() {
        let text = "hello\n @reply 1\n\n@reply {}\n@repl\n@reply half";
        let lines: Vec<_> = Lines::replies(text.as_bytes()).collect();
        assert!(matches!(&lines[0], OutputLine::Printed(text) if text == "hello\n"));
        assert!(matches!(&lines[1], OutputLine::Printed(text) if text == " @reply 1\n"));
        assert!(matches!(&lines[2], OutputLine::Message(line) if line == b"{}"));
        assert!(matches!(&lines[3], OutputLine::Printed(text) if text == "@repl\n"));
        assert_eq!(lines.len(), 4, "an unterminated line is ignored");
    }

    #[test]
    fn output_is_recorded_up_to_a_limit() {
        let lines = read_lines(&"x".repeat(3 * MAX_LINE).repeat(2));
        assert!(lines.is_empty(), "no line ends");
        let long_output = "0123456789\n".repeat(10_000);
        let printed_length: usize = Lines::new(long_output.as_bytes(), String::new())
            .map(|line| match line {
                OutputLine::Printed(text) => text.len(),
                OutputLine::Message(_) => 0,
            })
            .sum();
        assert!(
            (MAX_PRINTED..2 * MAX_PRINTED).contains(&printed_length),
            "{printed_length}"
        );
    }
}
