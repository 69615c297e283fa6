//! Numbers for lines of device memory, in the order in which they are first used.

/// Bytes of a line.
pub const LINE: u64 = 128;

/// Numbers for lines; there is an end to them.
pub struct LineNumbers {
    /// A hash table, at most half full. A line stands in the first free slot from its own on.
    slots: Vec<Slot>,
    count: u32,
    most: u32,
    /// Which slots are in use: those of this generation.
    generation: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    line: u64,
    generation: u32,
    number: u32,
}

impl LineNumbers {
    /// For at most so many lines.
    pub fn new(most: u32) -> LineNumbers {
        LineNumbers {
            slots: vec![Slot::default(); 64],
            count: 0,
            most,
            generation: 1,
        }
    }

    /// Forgets all lines.
    pub fn clear(&mut self) {
        self.count = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill(Slot::default());
            self.generation = 1;
        }
    }

    /// The number of the line that begins at this address, and whether it is new. None where it has
    /// none and there are no more.
    #[inline(always)]
    pub fn number(&mut self, line: u64) -> Option<(usize, bool)> {
        let place = match self.find(line) {
            Ok(number) => return Some((number as usize, false)),
            Err(place) => place,
        };
        if self.count == self.most {
            return None;
        }
        let number = self.count;
        self.slots[place] = Slot {
            line,
            generation: self.generation,
            number,
        };
        self.count += 1;
        if self.count as usize * 2 > self.slots.len() {
            self.grow();
        }
        Some((number as usize, true))
    }

    /// The line's number, or the slot where it belongs.
    #[inline(always)]
    fn find(&self, line: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let hash = (line / LINE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut place = hash as usize & mask;
        loop {
            let slot = &self.slots[place];
            if slot.generation != self.generation {
                return Err(place);
            }
            if slot.line == line {
                return Ok(slot.number);
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Slot::default(); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, larger);
        for slot in old {
            if slot.generation == self.generation
                && let Err(place) = self.find(slot.line)
            {
                self.slots[place] = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let mut lines = LineNumbers::new(1000);
        for round in 0..2 {
            for n in 0..1000u64 {
                let wanted = Some((n as usize, round == 0));
                assert_eq!(lines.number(n * n * LINE), wanted, "{n}");
            }
            assert_eq!(lines.number(LINE * 3), None, "there are no more");
        }
        lines.clear();
        assert_eq!(lines.number(LINE * 9), Some((0, true)));
        assert_eq!(lines.number(LINE * 9), Some((0, false)));
    }
}
