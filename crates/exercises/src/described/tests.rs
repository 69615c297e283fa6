use super::*;
use crate::course::OURS;
use crate::exercise::Side;

#[test]
fn every_description_of_the_course_holds_together() {
    let mut many = 0;
    for exercise in &OURS {
        let data = exercise.data().unwrap_or_else(|why| panic!("{why:#}"));
        if let Side::Kernel(_) = exercise.side
            && data.is_described()
        {
            let verified = Described::new(exercise.toml).verify();
            verified.unwrap_or_else(|why| panic!("{}: {why:#}", exercise.name));
            many += 1;
        }
    }
    assert!(many >= 15, "{many}");
}
