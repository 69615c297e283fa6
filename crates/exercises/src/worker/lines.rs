//! A process's output, in which its own messages are mixed with what the submission prints.

use std::io::BufRead;

use answers::protocol::REPLY;

use super::job::{Line, Message};

/// The maximum length of a line in bytes; the rest is dropped. A line with a verdict is far shorter.
const LINE: usize = 1 << 20;

/// The maximum amount of the submission's output that is recorded, in bytes.
const PRINTED: usize = 2000;

/// A line of a process's output.
#[derive(Debug)]
pub enum Said<M = Message> {
    /// A message of the process itself.
    Message(M),
    /// A line printed by the submission, including its line break.
    Printed(String),
}

/// Parses the process's own messages; `None` for other lines.
type Understand<M> = Box<dyn Fn(&[u8]) -> Option<M> + Send>;

/// An iterator over the lines of a process's output.
pub struct Lines<R, M = Message> {
    from: R,
    understand: Understand<M>,
    printed: usize,
}

impl<R> Lines<R> {
    /// Reads the output of a worker with this token.
    pub fn new(from: R, token: String) -> Self {
        let understand: Understand<Message> = Box::new(move |line| {
            let line: Line = serde_json::from_slice(line).ok()?;
            (line.token == token).then_some(line.message)
        });
        Lines {
            from,
            understand,
            printed: 0,
        }
    }
}

impl<R> Lines<R, Vec<u8>> {
    /// Reads the output of the program around a Rust submission, whose replies are returned without their
    /// prefix.
    pub fn replies(from: R) -> Self {
        let understand: Understand<Vec<u8>> =
            Box::new(|line| Some(line.strip_prefix(REPLY.as_bytes())?.to_owned()));
        Lines {
            from,
            understand,
            printed: 0,
        }
    }
}

impl<R: BufRead, M> Lines<R, M> {
    /// Returns the next line without its line break, cut to [`LINE`] bytes.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let part = self.from.fill_buf().ok()?;
            if part.is_empty() {
                return None;
            }
            let end = part.iter().position(|&byte| byte == b'\n');
            let length = end.unwrap_or(part.len());
            let room = LINE - line.len();
            line.extend_from_slice(&part[..length.min(room)]);
            self.from.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                return Some(line);
            }
        }
    }
}

impl<R: BufRead, M> Iterator for Lines<R, M> {
    type Item = Said<M>;

    fn next(&mut self) -> Option<Said<M>> {
        loop {
            let line = self.line()?;
            if let Some(message) = (self.understand)(&line) {
                return Some(Said::Message(message));
            }
            if !line.is_empty() && self.printed < PRINTED {
                let text = String::from_utf8_lossy(&line);
                let kept: String = text.chars().take(PRINTED - self.printed).collect();
                self.printed += line.len();
                return Some(Said::Printed(format!("{kept}\n")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<Said> {
        Lines::new(text.as_bytes(), "secret".to_owned()).collect()
    }

    #[test]
    fn only_who_knows_the_token_is_believed() {
        let line = |token: &str| format!(r#"{{"token":"{token}","message":{{"broken":"why"}}}}"#);
        let text = format!("hello\n{}\n{}\n", line("guessed"), line("secret"));
        let said = said(&text);
        assert!(matches!(&said[0], Said::Printed(text) if text == "hello\n"));
        assert!(matches!(&said[1], Said::Printed(text) if text.contains("guessed")));
        assert!(matches!(&said[2], Said::Message(Message::Broken(why)) if why == "why"));
        assert_eq!(said.len(), 3);
    }

    #[test]
    fn replies_are_told_from_what_is_printed() {
        let text = "hello\n @reply 1\n\n@reply {}\n@repl\n@reply half";
        let said: Vec<_> = Lines::replies(text.as_bytes()).collect();
        assert!(matches!(&said[0], Said::Printed(text) if text == "hello\n"));
        assert!(matches!(&said[1], Said::Printed(text) if text == " @reply 1\n"));
        assert!(matches!(&said[2], Said::Message(line) if line == b"{}"));
        assert!(matches!(&said[3], Said::Printed(text) if text == "@repl\n"));
        assert_eq!(said.len(), 4, "a line that does not end is none");
    }

    #[test]
    fn what_is_printed_is_kept_up_to_a_length() {
        let said = said(&"x".repeat(3 * LINE).repeat(2));
        assert!(said.is_empty(), "no line ends");
        let many = "0123456789\n".repeat(10_000);
        let kept: usize = Lines::new(many.as_bytes(), String::new())
            .map(|said| match said {
                Said::Printed(text) => text.len(),
                Said::Message(_) => 0,
            })
            .sum();
        assert!((PRINTED..2 * PRINTED).contains(&kept), "{kept}");
    }
}
