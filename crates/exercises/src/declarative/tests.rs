//! Tests of the built-in exercises that are described in `exercise.toml`.

use super::*;
use crate::course::BUILT_IN;
use crate::exercise::Side;

#[test]
fn every_description_of_the_course_resolves() {
    let mut count = 0;
    for exercise in &BUILT_IN {
        let data = exercise.data().unwrap_or_else(|error| panic!("{error:#}"));
        if let Side::Kernel(_) = exercise.side
            && data.is_declarative()
        {
            let verified = DeclarativeHost::new(exercise.toml).verify();
            verified.unwrap_or_else(|error| panic!("{}: {error:#}", exercise.name));
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}
