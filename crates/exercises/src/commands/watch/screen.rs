//! The terminal's alternate screen, restored at the end.

use std::io::{self, Write};

use anyhow::{Context as _, Result};
use chapter::interrupt;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};

use crate::lang::tr;

/// The terminal while the live view runs; dropping it restores the terminal.
pub struct Screen;

impl Screen {
    /// Enters raw mode and the alternate screen.
    pub fn open() -> Result<Screen> {
        enable_raw_mode().context(tr(
            "the terminal cannot read single keys",
            "终端不能逐个读取按键",
        ))?;
        let screen = Screen;
        interrupt::on_exit(Some(restore));
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws the lines that `lines` returns for the terminal's width and height.
    pub fn draw(&self, lines: impl FnOnce(usize, usize) -> Vec<String>) -> Result<()> {
        if interrupt::is_shutting_down() {
            return Ok(()); // another thread is restoring the terminal
        }
        let (width, height) = size().unwrap_or((80, 24));
        let lines = lines(width.into(), height.into());
        let mut stdout = io::stdout().lock();
        queue!(stdout, MoveTo(0, 0))?;
        for (row, line) in lines.iter().enumerate() {
            if row > 0 {
                stdout.write_all(b"\r\n")?;
            }
            stdout.write_all(line.as_bytes())?;
            queue!(stdout, Clear(ClearType::UntilNewLine))?;
        }
        queue!(stdout, Clear(ClearType::FromCursorDown))?;
        Ok(stdout.flush()?)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        interrupt::on_exit(None);
        restore();
    }
}

/// Restores the terminal. Errors are ignored: a terminal that is gone needs no restoring.
fn restore() {
    let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}
