//! The conditions that the simulator runs launches under: a program may ask for others than the usual
//! ones, to see whether a kernel's results depend on them.

use std::sync::Mutex;

use cuda_sim::exec::Conditions;

use super::queue::{self, Awaited};
use super::{lock, machine};

/// The conditions of the launches to come.
static CONDITIONS: Mutex<Conditions> = Mutex::new(Conditions::USUAL);

/// Has launches on the simulator run, from now on, in an order that nobody can foretell: all blocks that
/// the device could hold at a time are under way at once, and a warp may have to wait before any access
/// of memory that others see, for as long as others have anything to do. Lanes of a warp stay in step.
///
/// A kernel that is right comes out right; one that lacks an atomic or a barrier comes out wrong with
/// most seeds. The same seed gives the same order. Launches take several times as long, on one host
/// thread; their counters and times say nothing, and they have no profile.
///
/// Work of streams, and nodes of graphs, are done in another order too: any that streams, events and edges
/// allow. Who waits for a stream finds no more of the others done than that takes.
///
/// `None`: the usual order. On a GPU it changes nothing.
pub fn shuffle(seed: Option<u64>) {
    change(|conditions| conditions.shuffle = seed);
}

/// Sets the word that memory on the simulator holds, from now on, where nobody has written it: device
/// memory that is allocated from now on, shared memory when a block begins, local memory when a thread
/// does. A result that differs between two such words depends on memory that nobody has written.
/// Variables of a module begin with zero or their value in any case. `None`: zero. On a GPU it changes
/// nothing.
pub fn poison(word: Option<u32>) {
    change(|conditions| conditions.poison = word);
}

/// Has the simulator's time model look, from now on, at blocks that a kernel cannot foretell: at all of
/// them, or, in large grids, at those of multiprocessors drawn from the seed. `None`: it looks at the
/// blocks of the same few multiprocessors each time. On a GPU it changes nothing.
pub fn watch_blocks(seed: Option<u64>) {
    change(|conditions| conditions.watched = seed);
}

/// The conditions of the launches to come.
pub fn conditions() -> Conditions {
    *lock(&CONDITIONS)
}

fn change(change: impl FnOnce(&mut Conditions)) {
    queue::wait(Awaited::All);
    queue::restart();
    let mut conditions = lock(&CONDITIONS);
    change(&mut conditions);
    if let Ok(mut driver) = machine() {
        driver.set_conditions(*conditions);
    }
}
