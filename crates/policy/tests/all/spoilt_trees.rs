//! Files of tree ensembles that contradict themselves: each is refused, and the place is named.

use std::path::Path;

use policert_policy::PolicyError;
use policert_policy::trees::{Rounds, parse_trees};
use serde_json::{Value, json};

fn golden(case: &str, file: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trees");
    std::fs::read(folder.join(case).join(file)).expect("a file of the tests")
}

/// The message about a file that must be invalid.
fn refusal(bytes: &[u8], what: &str) -> String {
    match parse_trees("f", bytes, Rounds::Best) {
        Err(error @ PolicyError::Invalid { .. }) => error.to_string(),
        Err(error) => panic!("{what}: not called invalid: {error}"),
        Ok(_) => panic!("{what}: it was read"),
    }
}

/// Changes a value of a JSON file and expects a message with these words.
fn expect_changed(file: &Value, pointer: &str, value: &Value, words: &str) {
    let mut changed = file.clone();
    let place = changed.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    assert_ne!(place, value, "{pointer} is changed");
    *place = value.clone();
    let message = refusal(changed.to_string().as_bytes(), pointer);
    assert!(message.contains(words), "{pointer} → {value}: {message}");
}

/// Takes a key out of a JSON file and expects a message with these words.
fn expect_removed(file: &Value, parent: &str, key: &str, words: &str) {
    let mut changed = file.clone();
    let object = changed.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    assert!(object.remove(key).is_some(), "{parent} has {key}");
    let message = refusal(changed.to_string().as_bytes(), key);
    assert!(message.contains(words), "{parent} without {key}: {message}");
}

const BOOSTER: &str = "/learner/gradient_booster/model";

#[test]
fn xgboost_files_that_contradict_themselves_are_invalid() {
    let file: Value =
        serde_json::from_slice(&golden("xgboost-classes", "policy.json")).expect("JSON");
    let parse = |value: &Value| parse_trees("f", value.to_string().as_bytes(), Rounds::Best);
    assert!(parse(&file).is_ok(), "the file itself is right");
    let shape = "/learner/learner_model_param";
    let tree = format!("{BOOSTER}/trees/1");
    let of_booster = |rest: &str| format!("{BOOSTER}/{rest}");
    let of_tree = |rest: &str| format!("{tree}/{rest}");
    let nodes = file.pointer(&of_tree("left_children")).and_then(Value::as_array).expect("a list");
    assert!(nodes.len() >= 5 && nodes[0] == 1 && nodes[1] != -1, "node 0 and 1 are inner nodes");
    let short = json!([0, 0]);
    for (pointer, value, words) in [
        (format!("{shape}/num_class"), json!("2"), "num_class"),
        (format!("{shape}/num_class"), json!("three"), "/num_class: a whole number"),
        (format!("{shape}/num_target"), json!("2"), "3 classes and 2 targets"),
        (format!("{shape}/num_feature"), json!("5"), "/tree_param/num_feature"),
        (format!("{shape}/num_feature"), json!("-4"), "/num_feature: "),
        (format!("{shape}/base_score"), json!("0.5x"), "/base_score: a number"),
        (format!("{shape}/base_score"), json!("[5E-1"), "/base_score: a number"),
        (format!("{shape}/base_score"), json!("[1E-1,2E-1]"), "2 base scores for 3"),
        (format!("{shape}/base_score"), json!(null), "/base_score: a number"),
        (format!("{shape}/base_score"), json!("nan"), "/base_score: objective"),
        ("/learner/feature_names".to_owned(), json!(["x"]), "/feature_names: the list has 1"),
        ("/learner/feature_types".to_owned(), json!(["int"]), "/feature_types: the list has 1"),
        ("/learner/objective/name".to_owned(), json!("multi:hardmax"), "/objective/name"),
        (
            "/learner/objective/softmax_multiclass_param/num_class".to_owned(),
            json!("4"),
            "/softmax_multiclass_param/num_class: it says 4",
        ),
        (of_booster("gbtree_model_param/num_trees"), json!("8"), "/num_trees: it says 8"),
        (of_booster("gbtree_model_param/num_parallel_tree"), json!("0"), "/num_parallel_tree"),
        (of_booster("iteration_indptr"), json!([0, 3, 6]), "/iteration_indptr: the entries"),
        (of_booster("iteration_indptr"), json!([0, 6, 3, 9]), "/iteration_indptr: the entries"),
        (of_booster("iteration_indptr"), json!([0, 2, 6, 9]), "/iteration_indptr: in round 0"),
        (of_booster("tree_info"), json!([0, 1, 2]), "/tree_info: the list has 3"),
        (of_booster("tree_info/4"), json!(3), "/tree_info/4: tree 4"),
        (of_booster("tree_info/4"), json!(-1), "/tree_info/4: tree 4"),
        (of_booster("tree_info/4"), json!(0), "in round 1"),
        (of_tree("id"), json!(2), "/trees/1/id"),
        (of_tree("tree_param/num_nodes"), json!("3"), "/tree_param/num_nodes"),
        (of_tree("tree_param/num_deleted"), json!("1"), "/trees/1: `num_deleted` says 1"),
        (of_tree("tree_param/size_leaf_vector"), json!("2"), "leaves of 2 values"),
        (of_tree("right_children"), short.clone(), "/right_children: the list has 2"),
        (of_tree("split_indices"), short.clone(), "/split_indices: the list has 2"),
        (of_tree("split_conditions"), short.clone(), "/split_conditions: the list has 2"),
        (of_tree("default_left"), short.clone(), "/default_left: the list has 2"),
        (of_tree("split_type"), short.clone(), "/split_type: the list has 2"),
        (of_tree("parents"), short.clone(), "/parents: the list has 2"),
        (of_tree("base_weights"), short.clone(), "/base_weights: the list has 2"),
        (of_tree("sum_hessian"), short.clone(), "/sum_hessian: the list has 2"),
        (of_tree("loss_changes"), short, "/loss_changes: the list has 2"),
        (of_tree("left_children/0"), json!(-5), "/left_children/0: child -5"),
        (of_tree("left_children/0"), json!(999), "/left_children/0: child 999"),
        (of_tree("right_children/0"), json!(-1), "/right_children/0: child -1"),
        (of_tree("left_children/0"), json!(2), "node 2"),
        (of_tree("left_children/1"), json!(0), "node 0"),
        (of_tree("left_children/0"), json!(-1), "right child"),
        (of_tree("parents/1"), json!(2), "/parents/1: the parent of node 1 is 0, not 2"),
        (of_tree("parents/0"), json!(0), "/parents/0: the parent of node 0 is none"),
        (of_tree("split_indices/0"), json!(4), "/split_indices/0: node 0 splits on feature 4"),
        (of_tree("split_indices/0"), json!(-1), "/split_indices/0: node 0 splits on feature -1"),
        (of_tree("split_conditions/0"), json!("0.5"), "/split_conditions/0: a number"),
        (of_tree("default_left/0"), json!(2), "/default_left/0: 0 or 1"),
        (of_tree("split_type/0"), json!(-1), "/split_type/0: 0 or 1"),
        (of_tree("categories_nodes"), json!([0]), "/categories_nodes/0: `split_type` says"),
    ] {
        expect_changed(&file, &pointer, &value, words);
    }
    for (parent, key, words) in [
        ("/learner", "objective", "`objective` is missing"),
        ("/learner/objective", "name", "`name` is missing"),
        ("/learner", "learner_model_param", "`learner_model_param` is missing"),
        (shape, "base_score", "`base_score` is missing"),
        (shape, "num_feature", "`num_feature` is missing"),
        (BOOSTER, "tree_info", "`tree_info` is missing"),
        (BOOSTER, "gbtree_model_param", "`gbtree_model_param` is missing"),
        (&tree, "split_indices", "`split_indices` is missing"),
    ] {
        expect_removed(&file, parent, key, words);
    }
    // A tree cut out, alone and with its entries.
    for lists in [&["trees"][..], &["trees", "tree_info"]] {
        let mut changed = file.clone();
        for list in lists {
            let list = changed.pointer_mut(&of_booster(list)).and_then(Value::as_array_mut);
            list.expect("a list").remove(4);
        }
        let message = refusal(changed.to_string().as_bytes(), "a tree cut out");
        assert!(message.contains("/num_trees: it says 9, the list `trees` has 8"), "{message}");
    }
    // Without the list of rounds, the trees must make whole rounds.
    let mut changed = file.clone();
    let model = changed.pointer_mut(BOOSTER).and_then(Value::as_object_mut).expect("an object");
    model.remove("iteration_indptr");
    assert!(parse(&changed).is_ok(), "older files do not list the rounds");
    expect_changed(
        &changed,
        &of_booster("gbtree_model_param/num_parallel_tree"),
        &json!("2"),
        "no whole number of rounds",
    );
    // Another version is not supported.
    let mut changed = file;
    changed["version"] = json!([4, 0, 0]);
    let error = parse(&changed).expect_err("version 4");
    assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
}

#[test]
fn a_key_that_stands_twice_in_an_xgboost_file_is_refused() {
    let text = String::from_utf8(golden("xgboost-classes", "policy.json")).expect("UTF-8");
    for key in ["tree_info", "trees", "base_score", "name", "left_children"] {
        let key = format!("\"{key}\":");
        let at = text.find(&key).unwrap_or_else(|| panic!("{key}"));
        let text = format!("{}{key}[],{}", &text[..at], &text[at..]);
        let message = refusal(text.as_bytes(), &key);
        assert!(message.contains("stands twice"), "{message}");
    }
}

#[test]
fn ubjson_files_that_contradict_themselves_are_invalid() {
    let bytes = golden("xgboost-classes", "policy.ubj");
    assert!(parse_trees("f", &bytes, Rounds::Best).is_ok(), "the file itself is right");
    // The digit behind a key whose value is text.
    for (key, from, to, words) in [
        ("num_trees", b'9', b'8', "/num_trees: it says 8"),
        ("num_class", b'3', b'4', "num_class"),
        ("num_feature", b'4', b'5', "num_feature"),
        ("num_parallel_tree", b'1', b'0', "/num_parallel_tree"),
        ("num_deleted", b'0', b'1', "num_deleted"),
    ] {
        let at = bytes.windows(key.len()).position(|window| window == key.as_bytes());
        let at = at.unwrap_or_else(|| panic!("{key}")) + key.len();
        let digit = bytes[at..].iter().position(|&byte| byte == from).expect("its value") + at;
        let mut changed = bytes.clone();
        changed[digit] = to;
        let message = refusal(&changed, key);
        assert!(message.contains(words), "{key}: {message}");
    }
}

#[test]
fn lightgbm_files_that_contradict_themselves_are_invalid() {
    let text = String::from_utf8(golden("lightgbm-classes", "policy.txt")).expect("UTF-8");
    let parse = |text: &str| parse_trees("f", text.as_bytes(), Rounds::Best);
    assert!(parse(&text).is_ok(), "the file itself is right");
    let windows = text.replace('\n', "\r\n");
    assert!(parse(&windows).is_ok(), "line ends do not count as bytes");
    let line = |key: &str| {
        let found = text.lines().find(|line| line.starts_with(&format!("{key}=")));
        found.unwrap_or_else(|| panic!("{key}")).to_owned()
    };
    let sizes = line("tree_sizes");
    let first_size = sizes.split(['=', ' ']).nth(1).expect("a size").to_owned();
    let without_sizes = text.replacen(&format!("{sizes}\n"), "", 1);
    assert!(parse(&without_sizes).is_ok(), "older files do not list the sizes");
    // In place of a line, in the file with and without sizes.
    let changed = |text: &str, key: &str, to: &str| {
        let changed = text.replacen(&format!("{}\n", line(key)), &format!("{to}\n"), 1);
        assert_ne!(changed, text, "{key}");
        changed
    };
    for (key, to, words) in [
        ("version", "version=", "version"),
        ("num_class", "num_class=2", "(num_class): `num_class` is 2"),
        ("num_class", "num_class=0", "(num_class): `num_class` is 0"),
        ("num_class", "num_klass=3", "`num_class` is missing"),
        ("num_tree_per_iteration", "num_tree_per_iteration=1", "(num_class)"),
        ("max_feature_idx", "max_feature_idx=1", "(feature_names): there are 4 names for 2"),
        ("max_feature_idx", "max_feature_idx=-1", "(max_feature_idx)"),
        ("feature_names", "feature_names=a b", "(feature_names): there are 2 names for 4"),
        ("feature_infos", "feature_infos=[0:1]", "(feature_infos): 1 entries for 4"),
        ("objective", "objective=multiclass num_class:4", "(objective): it says 4"),
        ("objective", "objective=multiklass num_class:3", "(objective): there is no objective"),
        ("tree_sizes", "tree_sizes=1 2", "(tree_sizes): it lists 2 trees"),
        ("tree_sizes", &sizes.replacen(&first_size, "7", 1), "tree 0 should have 7 bytes"),
        ("num_class", "num_class=3\nnum_class=3", "the key `num_class` stands twice"),
        ("num_class", "num_class=3\njunk", "line 4: the line is neither"),
    ] {
        if key == "version" {
            let error = parse(&changed(&text, key, to)).expect_err("a version");
            assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains("line 2 (version)"), "{error}");
            continue;
        }
        let message = refusal(changed(&text, key, to).as_bytes(), to);
        assert!(message.contains(words) && message.contains("line "), "{to}: {message}");
    }
    let left = line("left_child");
    let numbers: Vec<&str> = left["left_child=".len()..].split(' ').collect();
    let with_left = |first: &str| {
        let rest = numbers[1..].join(" ");
        format!("left_child={first} {rest}")
    };
    let right = line("right_child");
    let first_right = right["right_child=".len()..].split(' ').next().expect("a child").to_owned();
    let leaves = line("leaf_value");
    let one_less = leaves.rsplit_once(' ').expect("several leaves").0.to_owned();
    let kinds = line("decision_type");
    let with_kind = |kind: &str| {
        let rest = kinds.split_once(' ').expect("several nodes").1;
        format!("decision_type={kind} {rest}")
    };
    for (key, to, words) in [
        ("num_leaves", "num_leaves=8".to_owned(), "(leaf_value): 7 entries for 8"),
        ("num_leaves", "num_leaves=0".to_owned(), "(num_leaves): a tree has"),
        ("leaf_value", one_less, "(leaf_value): 6 entries for 7"),
        ("leaf_value", format!("{leaves}x"), "(leaf_value): `"),
        ("leaf_value", format!("{leaves}\n{leaves}"), "the key `leaf_value` stands twice"),
        ("threshold", "threshold=1 2".to_owned(), "(threshold): 2 entries for 6"),
        ("leaf_count", "leaf_count=1 2".to_owned(), "(leaf_count): 2 entries for 7"),
        ("internal_value", "internal_value=1".to_owned(), "(internal_value): 1 entries"),
        ("num_cat", "num_cat=1".to_owned(), "(num_cat): it says 1"),
        ("Tree", "Tree=1".to_owned(), "(Tree): tree 0 of the file"),
        ("left_child", with_left("-9"), "(left_child): child -9 of node 0"),
        ("left_child", with_left("6"), "(left_child): child 6 of node 0"),
        ("left_child", with_left(&first_right), "is the child of two nodes"),
        ("left_child", with_left("0"), "node 0 is the child of two nodes"),
        ("decision_type", with_kind("16"), "(decision_type): 16 of node 0"),
        ("decision_type", with_kind("-2"), "(decision_type): -2 of node 0"),
        ("decision_type", with_kind("14"), "(decision_type): 14 of node 0"),
        ("decision_type", with_kind("1"), "(num_cat): it says 0"),
    ] {
        let message = refusal(changed(&without_sizes, key, &to).as_bytes(), &to);
        assert!(message.contains(words) && message.contains("line "), "{to}: {message}");
        // The sizes find most of these, too.
        let with_sizes = parse(&changed(&text, key, &to));
        assert!(matches!(with_sizes, Err(PolicyError::Invalid { .. })), "{to}");
    }
    // Trees cut out or doubled.
    let at = |tree: usize| text.find(&format!("Tree={tree}\n")).expect("the tree");
    let end = text.find("end of trees").expect("the end");
    for (from, to) in [(at(0), at(1)), (at(4), at(5)), (at(8), end)] {
        let cut = format!("{}{}", &text[..from], &text[to..]);
        assert!(refusal(cut.as_bytes(), "cut").contains("(tree_sizes): it lists 9 trees"));
        let doubled = format!("{}{}", &text[..to], &text[from..]);
        assert!(refusal(doubled.as_bytes(), "doubled").contains("(tree_sizes): it lists 9 trees"));
        let cut = cut.replacen(&format!("{sizes}\n"), "", 1);
        let message = refusal(cut.as_bytes(), "cut");
        assert!(message.contains("8 trees are no whole number of rounds of 3"), "{message}");
    }
    let behind = format!("{text}\nTree=9\n");
    assert!(refusal(behind.as_bytes(), "behind").contains("a tree behind it"));
}

#[test]
fn lightgbm_dumps_that_contradict_themselves_are_invalid() {
    let file: Value =
        serde_json::from_slice(&golden("lightgbm-classes", "policy.json")).expect("JSON");
    let root = "/tree_info/2/tree_structure";
    for (pointer, value, words) in [
        ("/num_class".to_owned(), json!(2), "/num_class: `num_class` is 2"),
        ("/num_tree_per_iteration".to_owned(), json!(0), "/num_tree_per_iteration: it is zero"),
        ("/max_feature_idx".to_owned(), json!(1), "/feature_names: there are 4 names for 2"),
        ("/objective".to_owned(), json!("multiclass num_class:2"), "/objective: it says 2"),
        ("/tree_info/2/tree_index".to_owned(), json!(7), "/tree_info/2/tree_index: it says 7"),
        ("/tree_info/2/num_leaves".to_owned(), json!(5), "/tree_info/2/num_leaves: it says 5"),
        ("/tree_info/2/num_cat".to_owned(), json!(1), "/tree_info/2/num_cat: it says 1"),
        (format!("{root}/split_feature"), json!(4), "/split_feature: there are 4 features"),
        (format!("{root}/split_index"), json!(1), "/split_index: number 1 stands twice"),
        (format!("{root}/decision_type"), json!("<"), "/decision_type: `<=` or `==`"),
        (format!("{root}/threshold"), json!(null), "/threshold: a number"),
        (format!("{root}/missing_type"), json!("Nan"), "/missing_type: None, Zero or NaN"),
        (format!("{root}/default_left"), json!("yes"), "/default_left: true or false"),
    ] {
        expect_changed(&file, &pointer, &value, words);
    }
    let mut changed = file;
    changed["tree_info"].as_array_mut().expect("a list").pop();
    let message = refusal(changed.to_string().as_bytes(), "a tree cut out");
    assert!(message.contains("/tree_info: 8 trees are no whole number"), "{message}");
}
