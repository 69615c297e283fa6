//! A worker's output: lines of its own among what kernels print.

use std::io::BufRead;

use super::job::{Line, Message};

/// The longest line that is kept. One with a verdict is far shorter.
const LINE: usize = 1 << 20;

/// So much of what kernels print is kept.
const PRINTED: usize = 2000;

/// What came from a worker.
#[derive(Debug)]
pub enum Said {
    /// A line of its own.
    Message(Message),
    /// What a kernel printed: a line, with its end.
    Printed(String),
}

/// Reads them one by one, until the output closes.
pub struct Lines<R> {
    from: R,
    token: String,
    printed: usize,
}

impl<R: BufRead> Lines<R> {
    /// Those of a worker that was given this token.
    pub fn new(from: R, token: String) -> Self {
        Lines {
            from,
            token,
            printed: 0,
        }
    }

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

    fn understood(&self, line: &[u8]) -> Option<Message> {
        let line: Line = serde_json::from_slice(line).ok()?;
        (line.token == self.token).then_some(line.message)
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Said;

    fn next(&mut self) -> Option<Said> {
        loop {
            let line = self.line()?;
            if let Some(message) = self.understood(&line) {
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
