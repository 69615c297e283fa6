//! A process's output: lines of its own among what a student's code prints.

use std::io::BufRead;

use answers::protocol::REPLY;

use super::job::{Line, Message};

/// The longest line that is kept. One with a verdict is far shorter.
const LINE: usize = 1 << 20;

/// So much of what a student's code prints is kept.
const PRINTED: usize = 2000;

/// What came from a process.
#[derive(Debug)]
pub enum Said<M = Message> {
    /// A line of its own.
    Message(M),
    /// What a student's code printed: a line, with its end.
    Printed(String),
}

/// Tells the process's own lines, and what they say, from others.
type Understand<M> = Box<dyn Fn(&[u8]) -> Option<M> + Send>;

/// Reads them one by one, until the output closes.
pub struct Lines<R, M = Message> {
    from: R,
    understand: Understand<M>,
    printed: usize,
}

impl<R> Lines<R> {
    /// Those of a worker that was given this token.
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
    /// Those of a program around an answer: replies, without their mark.
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
    /// The next line, without its end; what is longer than [`LINE`] is cut off.
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
