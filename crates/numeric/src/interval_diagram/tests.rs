//! Diagrams of random sets, against their points one by one.

use proptest::prelude::*;

use super::*;

/// The points of a space in order.
fn points(space: &IntBox) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for side in space.sides() {
        let longer = all.iter().flat_map(|point: &Vec<i64>| {
            (side.lo..=side.hi).map(move |value| [point.as_slice(), &[value]].concat())
        });
        all = longer.collect();
    }
    all
}

fn space() -> IntBox {
    IntBox::new(vec![IntInterval::new(-1, 2), IntInterval::new(0, 1), IntInterval::new(5, 8)])
}

/// A box within the space.
fn part() -> impl Strategy<Value = IntBox> {
    let side = |side: IntInterval| {
        (side.lo..=side.hi, side.lo..=side.hi)
            .prop_map(|(a, b)| IntInterval::new(a.min(b), a.max(b)))
    };
    let sides = space().sides().iter().map(|one| side(*one)).collect::<Vec<_>>();
    sides.prop_map(IntBox::new)
}

/// The diagram of kept points, asked in this order of dimensions.
fn of_points(kept: &[Vec<i64>], order: &[usize]) -> Option<IntervalDiagram> {
    let mut builder = DiagramBuilder::new(space(), order.to_vec(), usize::MAX);
    let in_order = |point: &Vec<i64>| order.iter().map(|&d| point[d]).collect::<Vec<_>>();
    let mut sorted: Vec<Vec<i64>> = kept.iter().map(in_order).collect();
    sorted.sort();
    sorted.iter().for_each(|point| builder.push(point).expect("no limit"));
    builder.finish().expect("no limit")
}

/// A diagram has these points and no other ones, whatever is asked.
fn check(diagram: &IntervalDiagram, kept: &[Vec<i64>], parts: &[IntBox]) {
    let mut visited = Vec::new();
    diagram
        .for_each_box(&mut |sides| {
            visited.push(sides.clone());
            Ok::<_, ()>(())
        })
        .expect("no error");
    assert_eq!(diagram.boxes(), visited.len() as u128);
    let mut whole = Vec::new();
    diagram
        .for_each_part(&space(), &mut |sides, before, end| {
            assert!(before.includes(sides));
            if end == PartEnd::Whole {
                whole.push(sides.clone());
            }
            Ok::<_, ()>(Some(sides.clone()))
        })
        .expect("no error");
    assert_eq!(whole, visited);
    for point in points(&space()) {
        let is_kept = kept.contains(&point);
        assert_eq!(diagram.contains(&point), is_kept, "{point:?}");
        let boxes = visited.iter().filter(|sides| sides.contains(&point)).count();
        assert_eq!(boxes, usize::from(is_kept), "boxes are disjoint");
    }
    for sides in parts {
        let inside: Vec<_> = points(sides);
        let is_included = inside.iter().all(|point| kept.contains(point));
        assert_eq!(diagram.includes(sides), is_included, "{sides:?}");
        let meets = inside.iter().any(|point| kept.contains(point));
        let nearest = diagram.nearest(sides);
        assert_eq!(nearest.is_some(), meets, "{sides:?}");
        if let Some(nearest) = nearest {
            assert!(!nearest.intersect(sides).is_empty());
            assert!(visited.contains(&nearest));
        }
    }
    let outside =
        IntBox::new(vec![IntInterval::new(-2, 2), IntInterval::new(0, 1), IntInterval::new(5, 8)]);
    assert!(!diagram.includes(&outside));
}

proptest! {
    #[test]
    fn a_diagram_has_the_points_it_was_made_of(
        bits in any::<u32>(),
        order in Just(vec![0usize, 1, 2]).prop_shuffle(),
        parts in prop::collection::vec(part(), 6),
    ) {
        let all = points(&space());
        let kept: Vec<Vec<i64>> =
            all.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, point)| point.clone()).collect();
        match of_points(&kept, &order) {
            Some(diagram) => {
                check(&diagram, &kept, &parts);
                // What is written is what is read.
                let nodes = diagram.nodes().map(|(level, edges)| {
                    (level, edges.iter().map(|edge| (edge.values, edge.to.position())).collect())
                });
                let read = IntervalDiagram::new(space(), order, nodes.collect::<Vec<_>>());
                prop_assert_eq!(read.as_ref(), Ok(&diagram));
            }
            None => prop_assert!(kept.is_empty() || kept.len() == all.len()),
        }
    }

    #[test]
    fn the_union_of_boxes_has_their_points(
        boxes in prop::collection::vec(part(), 0..6),
        order in Just(vec![0usize, 1, 2]).prop_shuffle(),
        parts in prop::collection::vec(part(), 6),
    ) {
        let builder = DiagramBuilder::new(space(), order.clone(), usize::MAX);
        let union = builder.of_boxes(&boxes, &mut || Ok::<_, ()>(())).expect("no stop").expect("no limit");
        let kept: Vec<Vec<i64>> =
            points(&space()).into_iter().filter(|point| boxes.iter().any(|one| one.contains(point))).collect();
        if let Some(union) = &union {
            check(union, &kept, &parts);
        }
        // Each set has one diagram.
        let size = |diagram: &IntervalDiagram| (diagram.nodes().len(), diagram.edges(), diagram.boxes());
        prop_assert_eq!(union.as_ref().map(size), of_points(&kept, &order).as_ref().map(size));
    }

    #[test]
    fn no_nodes_that_are_wrong_are_read(
        nodes in prop::collection::vec(
            (0usize..4, prop::collection::vec((-2i64..10, 0i64..4, 0usize..5), 0..3)), 0..4),
    ) {
        let nodes: Vec<_> = nodes
            .into_iter()
            .map(|(level, edges)| {
                let edge = |(lo, width, to): (i64, i64, usize)| (IntInterval::new(lo, lo + width - 1), to);
                (level, edges.into_iter().map(edge).collect::<Vec<_>>())
            })
            .collect();
        let is_right = |at: usize, (level, edges): &(usize, Vec<(IntInterval, usize)>)| {
            let Some(side) = space().sides().get(*level).copied() else { return false };
            let is_within = |values: IntInterval| values.lo <= values.hi && side.lo <= values.lo && values.hi <= side.hi;
            let is_later = |to: usize| to == 0 || (to <= at && nodes[to - 1].0 > *level);
            !edges.is_empty()
                && edges.iter().all(|(values, to)| is_within(*values) && is_later(*to))
                && edges.windows(2).all(|pair| pair[0].0.hi < pair[1].0.lo)
        };
        let wrong = nodes.iter().enumerate().position(|(at, node)| !is_right(at, node));
        let read = IntervalDiagram::new(space(), vec![0, 1, 2], nodes.clone());
        match wrong.or(nodes.is_empty().then_some(0)) {
            Some(node) => prop_assert_eq!(read, Err(NoDiagram { node })),
            None => prop_assert!(read.is_ok()),
        }
    }
}

#[test]
fn what_goes_on_alike_is_kept_once() {
    // Pairs of equal halves, and any value behind.
    let kept: Vec<Vec<i64>> =
        points(&space()).into_iter().filter(|point| point[0].rem_euclid(2) == point[1]).collect();
    let diagram = of_points(&kept, &[0, 1, 2]).expect("some points");
    assert_eq!((diagram.nodes().len(), diagram.edges(), diagram.boxes()), (3, 6, 4));
    let mut few = DiagramBuilder::new(space(), vec![0, 1, 2], 3);
    assert!(kept.iter().any(|point| few.push(point).is_err()) || few.finish().is_err());
}

#[test]
fn an_order_asks_each_dimension_once() {
    let node = || vec![(0, vec![(IntInterval::new(0, 0), 0)])];
    for order in [vec![1, 1], vec![3]] {
        assert!(IntervalDiagram::new(space(), order, node()).is_err());
    }
    let some = IntervalDiagram::new(space(), vec![1], node()).expect("a diagram");
    assert!(some.contains(&[2, 0, 5]) && !some.contains(&[2, 1, 5]));
    let unbounded = IntBox::new(vec![IntInterval::ALL]);
    assert!(IntervalDiagram::new(unbounded, vec![0], node()).is_err());
}
