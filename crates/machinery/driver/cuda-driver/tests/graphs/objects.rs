//! User objects, which live as long as a graph references them.

use super::*;
use cuda_driver::types::CUuserObject;

/// Creates a user object whose destructor increments `destroyed`.
fn new_object(destroyed: &mut u32, references: u32) -> CUuserObject {
    let (mut object, data) = (null_mut(), (&raw mut *destroyed).cast());
    calls! { cuUserObjectCreate(&mut object, data, Some(count), references, 1); }
    object
}

#[test]
fn objects_are_destroyed_with_their_last_reference() {
    let _simulator = Simulator::new();
    let mut destroyed = 0;
    let number = &raw const destroyed;
    // SAFETY: the number is alive, and no destructor runs during the read.
    let times = || unsafe { number.read_volatile() };
    let referenced = new_object(&mut destroyed, 2);
    calls! {
        cuUserObjectRetain(referenced, 3);
        cuUserObjectRelease(referenced, 4);
    }
    let original = graph();
    calls! {
        cuGraphRetainUserObject(original, referenced, 1, 0);
        cuUserObjectRelease(referenced, 1);
    }
    assert_eq!(times(), 0);
    let (object, mut copy) = (executable(original), null_mut());
    calls! {
        cuGraphClone(&mut copy, original);
        cuGraphDestroy(original);
        cuGraphExecDestroy(object);
    }
    assert_eq!(times(), 0);
    calls! { cuGraphDestroy(copy); }
    assert_eq!(times(), 1);
    calls! { cuUserObjectRetain(referenced, 1) => 1; }

    // The program's reference moves to the graph.
    let moved = new_object(&mut destroyed, 1);
    let graph = graph();
    calls! { cuGraphRetainUserObject(graph, moved, 1, 1); }
    let (outer, mut child) = (super::graph(), null_mut());
    calls! {
        cuGraphAddChildGraphNode(&mut child, outer, null(), 0, graph);
        cuGraphReleaseUserObject(graph, moved, 1);
        cuGraphReleaseUserObject(graph, moved, 1) => 1;
    }
    assert_eq!(times(), 1);
    calls! { cuGraphDestroyNode(child); }
    assert_eq!(times(), 2);
}

#[test]
fn invalid_counts_flags_and_functions_are_rejected() {
    let _simulator = Simulator::new();
    let (mut destroyed, mut object) = (0, null_mut());
    let graph = graph();
    let data = (&raw mut destroyed).cast();
    calls! {
        cuUserObjectCreate(&mut object, data, None, 1, 1) => 1;
        cuUserObjectCreate(&mut object, data, Some(count), 0, 1) => 1;
        cuUserObjectCreate(&mut object, data, Some(count), 1, 0) => 1;
        cuUserObjectCreate(null_mut(), data, Some(count), 1, 1) => 1;
    }
    let referenced = new_object(&mut destroyed, 1);
    calls! {
        cuUserObjectRetain(referenced, 0) => 1;
        cuUserObjectRelease(referenced, 2) => 1;
        cuGraphRetainUserObject(graph, referenced, 2, 1) => 1;
        cuGraphRetainUserObject(graph, referenced, 1, 2) => 1;
        cuGraphReleaseUserObject(graph, referenced, 1) => 1;
        cuGraphRetainUserObject(graph, graph.cast(), 1, 0) => 1;
        cuUserObjectRelease(referenced, 1);
    }
    assert_eq!(reread(&destroyed), 1);
}
