//! User objects, which live as long as a graph references them.

use super::*;
use cust::sys::CUuserObject;

/// Creates a user object whose destructor increments `destroyed`.
fn new_object(destroyed: &mut u32, references: u32) -> CUuserObject {
    let (mut object, data) = (null_mut(), (&raw mut *destroyed).cast());
    // SAFETY: `object` is writable, and the destructor `count` may be called with `data`, which outlives the
    // object.
    ok(unsafe { cu::cuUserObjectCreate(&mut object, data, Some(count), references, 1) });
    object
}

#[test]
fn objects_are_destroyed_with_their_last_reference() {
    let _simulator = Simulator::new();
    let mut destroyed = 0;
    let number = &raw const destroyed;
    // SAFETY: all outputs are writable locals; handles and addresses are looked up by the driver, never
    // dereferenced.
    unsafe {
        let times = || number.read_volatile();
        let referenced = new_object(&mut destroyed, 2);
        ok(cu::cuUserObjectRetain(referenced, 3));
        ok(cu::cuUserObjectRelease(referenced, 4));
        let original = graph();
        ok(cu::cuGraphRetainUserObject(original, referenced, 1, 0));
        ok(cu::cuUserObjectRelease(referenced, 1));
        assert_eq!(times(), 0);
        let (object, mut copy) = (executable(original), null_mut());
        ok(cu::cuGraphClone(&mut copy, original));
        ok(cu::cuGraphDestroy(original));
        ok(cu::cuGraphExecDestroy(object));
        assert_eq!(times(), 0);
        ok(cu::cuGraphDestroy(copy));
        assert_eq!(times(), 1);
        assert_eq!(cu::cuUserObjectRetain(referenced, 1), 1);

        // The program's reference moves to the graph.
        let moved = new_object(&mut destroyed, 1);
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
fn invalid_counts_flags_and_functions_are_rejected() {
    let _simulator = Simulator::new();
    let (mut destroyed, mut object) = (0, null_mut());
    let graph = graph();
    // SAFETY: `object` is writable, and the destructor `count` may be called with `data`; handles are only
    // looked up.
    unsafe {
        let data = (&raw mut destroyed).cast();
        assert_eq!(cu::cuUserObjectCreate(&mut object, data, None, 1, 1), 1);
        assert_eq!(
            cu::cuUserObjectCreate(&mut object, data, Some(count), 0, 1),
            1
        );
        assert_eq!(
            cu::cuUserObjectCreate(&mut object, data, Some(count), 1, 0),
            1
        );
        assert_eq!(
            cu::cuUserObjectCreate(null_mut(), data, Some(count), 1, 1),
            1
        );
        let referenced = new_object(&mut destroyed, 1);
        assert_eq!(cu::cuUserObjectRetain(referenced, 0), 1);
        assert_eq!(cu::cuUserObjectRelease(referenced, 2), 1);
        assert_eq!(cu::cuGraphRetainUserObject(graph, referenced, 2, 1), 1);
        assert_eq!(cu::cuGraphRetainUserObject(graph, referenced, 1, 2), 1);
        assert_eq!(cu::cuGraphReleaseUserObject(graph, referenced, 1), 1);
        assert_eq!(cu::cuGraphRetainUserObject(graph, graph.cast(), 1, 0), 1);
        ok(cu::cuUserObjectRelease(referenced, 1));
        assert_eq!((&raw const destroyed).read_volatile(), 1);
    }
}
