//! User objects, which live as long as a graph that holds them.

use super::*;
use cust::sys::CUuserObject;

/// A user object whose destruction is counted.
fn object(destroyed: &mut u32, references: u32) -> CUuserObject {
    let (mut made, data) = (null_mut(), (&raw mut *destroyed).cast());
    // SAFETY: the handle can be written to, and the number outlives the object.
    ok(unsafe { cu::cuUserObjectCreate(&mut made, data, Some(count), references, 1) });
    made
}

#[test]
fn an_object_goes_with_the_last_that_holds_it() {
    let _simulator = Simulator::new();
    let mut destroyed = 0;
    let number = &raw const destroyed;
    // SAFETY: any handles may be named; the number is read between calls.
    unsafe {
        let times = || number.read_volatile();
        let held = object(&mut destroyed, 2);
        ok(cu::cuUserObjectRetain(held, 3));
        ok(cu::cuUserObjectRelease(held, 4));
        let original = graph();
        ok(cu::cuGraphRetainUserObject(original, held, 1, 0));
        ok(cu::cuUserObjectRelease(held, 1));
        assert_eq!(times(), 0);
        let (made, mut copy) = (executable(original), null_mut());
        ok(cu::cuGraphClone(&mut copy, original));
        ok(cu::cuGraphDestroy(original));
        ok(cu::cuGraphExecDestroy(made));
        assert_eq!(times(), 0);
        ok(cu::cuGraphDestroy(copy));
        assert_eq!(times(), 1);
        assert_eq!(cu::cuUserObjectRetain(held, 1), 1);

        // The program's reference becomes the graph's.
        let moved = object(&mut destroyed, 1);
        let graph = graph();
        ok(cu::cuGraphRetainUserObject(graph, moved, 1, 1));
        let mut outer = null_mut();
        ok(cu::cuGraphCreate(&mut outer, 0));
        let mut child = null_mut();
        ok(cu::cuGraphAddChildGraphNode(
            &mut child,
            outer,
            null(),
            0,
            graph,
        ));
        ok(cu::cuGraphReleaseUserObject(graph, moved, 1));
        assert_eq!(cu::cuGraphReleaseUserObject(graph, moved, 1), 1);
        assert_eq!(times(), 1);
        ok(cu::cuGraphDestroyNode(child));
        assert_eq!(times(), 2);
    }
}

#[test]
fn wrong_counts_flags_and_functions_are_refused() {
    let _simulator = Simulator::new();
    let (mut destroyed, mut made) = (0, null_mut());
    let graph = graph();
    // SAFETY: any handles may be named.
    unsafe {
        let data = (&raw mut destroyed).cast();
        assert_eq!(cu::cuUserObjectCreate(&mut made, data, None, 1, 1), 1);
        assert_eq!(
            cu::cuUserObjectCreate(&mut made, data, Some(count), 0, 1),
            1
        );
        assert_eq!(
            cu::cuUserObjectCreate(&mut made, data, Some(count), 1, 0),
            1
        );
        assert_eq!(
            cu::cuUserObjectCreate(null_mut(), data, Some(count), 1, 1),
            1
        );
        let held = object(&mut destroyed, 1);
        assert_eq!(cu::cuUserObjectRetain(held, 0), 1);
        assert_eq!(cu::cuUserObjectRelease(held, 2), 1);
        assert_eq!(cu::cuGraphRetainUserObject(graph, held, 2, 1), 1);
        assert_eq!(cu::cuGraphRetainUserObject(graph, held, 1, 2), 1);
        assert_eq!(cu::cuGraphReleaseUserObject(graph, held, 1), 1);
        assert_eq!(cu::cuGraphRetainUserObject(graph, graph.cast(), 1, 0), 1);
        ok(cu::cuUserObjectRelease(held, 1));
        assert_eq!((&raw const destroyed).read_volatile(), 1);
    }
}
