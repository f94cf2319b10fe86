//! Properties: which one is meant, files that include files, and what becomes of them.

use std::path::Path;

use policert_jani::{
    LoadOptions, Loaded, PropertyKey, Selector, load_bytes,
    property::{FilterFunction, PathSet, Property, Quantity, QuantityComparison, Relation},
};
use policert_model::{SafetyProperty, Start};
use policert_numeric::Rational;

fn load(folder: &Path) -> Loaded {
    let constants = vec![("N".to_owned(), "2".to_owned())];
    let text = include_str!("../models/everything.jani");
    load_bytes(
        &folder.join("m.jani"),
        text.into(),
        &LoadOptions { constants, ..LoadOptions::default() },
    )
}

fn safety(loaded: &Loaded, selector: &Selector) -> SafetyProperty {
    let found = loaded.property(selector);
    let all: Vec<_> = found.diagnostics.iter().map(|d| d.render()).collect();
    match found.property {
        Some(Property::Safety(safety)) => safety,
        other => panic!("{other:?}: {}", all.join("\n")),
    }
}

#[test]
fn a_safety_property() {
    let loaded = load(Path::new("models"));
    let model = loaded.model().expect("model");
    let property = safety(&loaded, &loaded.selector("safety"));
    assert_eq!(property, safety(&loaded, &loaded.selector("0")));
    assert_eq!(property.name, "safety");
    assert_eq!(property.interface.as_deref(), Some(Path::new("models/nets/car.jani2nnet")));
    assert_eq!(model.display_condition(&property.unsafe_condition), "x ≥ 2");
    let predicates: Vec<_> = property.predicates.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(predicates.len(), 3);
    let Some(Start::States(states)) = &property.start else { panic!("{:?}", property.start) };
    let shown: Vec<_> = states.iter().map(|s| model.display_state(s)).collect();
    assert_eq!(
        shown,
        [
            "Car#0=drive, Car#2=done, x=1, hand-empty=true, free=0, A[0]=0, A[1]=2, A[2]=4, \
             B[0][0]=true, B[0][1]=false, B[1][0]=false, B[1][1]=true, Car#0.v=0, Car#2.v=0",
            "Car#0=drive, Car#2=drive, x=0, hand-empty=false, free=1, A[0]=0, A[1]=7, A[2]=4, \
             B[0][0]=true, B[0][1]=false, B[1][0]=false, B[1][1]=true, Car#0.v=0, Car#2.v=0",
        ]
    );
    let goal = property.goal.expect("a goal");
    assert_eq!(goal.holds(&states[0]), Ok(false));
    let mut done = states[0].clone();
    done[0] = 1;
    assert_eq!(goal.holds(&done), Ok(true));
}

#[test]
fn a_standard_property() {
    let loaded = load(Path::new("."));
    let found = loaded.property(&loaded.selector("reach"));
    let Some(Property::Standard(property)) = found.property else { panic!("{found:?}") };
    assert_eq!(property.function, FilterFunction::Max);
    assert_eq!(property.quantity, Quantity::MaxProbability);
    assert_eq!(property.states, None);
    let bound = Rational::new(1, 2).expect("a number");
    let relation = Relation::AtMost;
    assert_eq!(property.comparison, Some(QuantityComparison { relation, bound }));
    assert!(matches!(property.path, PathSet::Until { .. }));
}

#[test]
fn files_include_files_from_where_they_stand() {
    let folder = tempfile::tempdir().expect("folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, text).expect("file");
    };
    write(
        "props/pa.json",
        r#"{"labels": [{"name": "far", "element": {"file": "parts/far.json"}}],
            "properties": [
              {"name": "one", "expression": {"op": "PA", "file": "../nets/n.jani2nnet",
                "start": {"file": "parts/start.json"}, "reach": {"label": "far"},
                "objective": {"file": "parts/objective.json"}, "predicates": {"file": "parts/deeper/predicates.json"}}},
              {"name": "two", "expression": {"op": "PA", "reach": {"file": "parts/none.json"}}},
              {"name": "three", "expression": {"op": "PA", "reach": {"file": "parts/loop.json"}}}]}"#,
    );
    write("parts/far.json", "false");
    write(
        "props/parts/far.json",
        r#"{"op": "state-condition", "exp": {"op": ">", "left": "x", "right": 2}}"#,
    );
    write(
        "props/parts/start.json",
        r#"{"op": "state-condition", "exp": {"op": "let", "variables": [], "expression": "hand-empty"}}"#,
    );
    write("props/parts/objective.json", r#"{"op": "objective", "goal": {"file": "far.json"}}"#);
    write("props/parts/deeper/predicates.json", r#"[{"op": "<", "left": "x", "right": 1}]"#);
    write("props/parts/loop.json", r#"{"file": "loop.json"}"#);
    let loaded = load(folder.path());
    let model = loaded.model().expect("model");
    let file = folder.path().join("props/pa.json");
    let one = safety(&loaded, &Selector::File(file.clone(), PropertyKey::Index(0)));
    assert_eq!(one, safety(&loaded, &loaded.selector(&format!("{}:0", file.display()))));
    assert_eq!(one, safety(&loaded, &loaded.selector(&format!("{}:one", file.display()))));
    assert_eq!(one, safety(&loaded, &loaded.selector(&file.display().to_string())));
    assert_eq!(model.display_condition(&one.unsafe_condition), "x ≥ 3");
    assert_eq!(one.goal.as_ref(), Some(&one.unsafe_condition));
    assert!(matches!(one.start, Some(Start::Condition(_))));
    assert_eq!(one.predicates.len(), 1);
    assert_eq!(one.interface, Some(folder.path().join("props/../nets/n.jani2nnet")));
    let found = loaded.property_of_file(&file, 0);
    assert_eq!(found.files.len(), 5, "{:?}", found.files);
    for (index, words) in
        [(1, "parts/none.json"), (2, "files that name each other"), (3, "no property 3")]
    {
        let found = loaded.property_of_file(&file, index);
        assert!(found.property.is_none());
        assert!(found.diagnostics[0].message.contains(words), "{}", found.diagnostics[0]);
    }
}

#[test]
fn which_property_is_meant() {
    let own = ["goal".to_owned(), "a:1".to_owned(), "p.q".to_owned()];
    let key = |text: &str| PropertyKey::Name(text.to_owned());
    for (text, selector) in [
        ("3", Selector::Own(PropertyKey::Index(3))),
        ("goal", Selector::Own(key("goal"))),
        ("a:1", Selector::Own(key("a:1"))),
        ("p.q", Selector::Own(key("p.q"))),
        ("other", Selector::Own(key("other"))),
        ("b:1", Selector::File("b".into(), PropertyKey::Index(1))),
        ("pa.json", Selector::File("pa.json".into(), PropertyKey::Index(0))),
        ("x/pa.json:12", Selector::File("x/pa.json".into(), PropertyKey::Index(12))),
        ("x/pa", Selector::File("x/pa".into(), PropertyKey::Index(0))),
    ] {
        assert_eq!(Selector::parse(text, &own), selector, "{text}");
    }
}
