//! What is wrong, and where.

use policert_pddl::{PddlError, parse_domain, parse_problem};
use policert_sexpr::SexprError;

const DOMAIN: &str = "(define (domain d)
  (:requirements :strips :typing)
  (:types block - object)
  (:predicates (on ?x ?y - block) (clear ?x - block))
  (:functions (total-cost) - number (length ?x - block) - number)
  (:action take :parameters (?x ?y - block)
    :precondition (and (on ?x ?y) (not (= ?x ?y)))
    :effect (and (clear ?y) (not (on ?x ?y)) (increase (total-cost) (length ?x)))))
";
const PROBLEM: &str = "(define (problem p) (:domain d)
  (:objects a b - block)
  (:init (on a b) (= (length a) 2) (= (total-cost) 0))
  (:goal (and (clear b)))
  (:metric minimize (total-cost)))
";

/// The kind of an error, with its place and its first words.
fn shown(error: &PddlError) -> String {
    match error {
        PddlError::File(SexprError::Invalid { place, message }) => {
            format!("invalid {place} {message}")
        }
        PddlError::File(SexprError::Unsupported { place, message }) => {
            format!("unsupported {place} {message}")
        }
        other => other.to_string(),
    }
}

fn domain_error(from: &str, to: &str) -> String {
    assert!(DOMAIN.contains(from), "{from}");
    let text = DOMAIN.replacen(from, to, 1);
    shown(&parse_domain("d", text.as_bytes()).expect_err(to))
}

fn problem_error(from: &str, to: &str) -> String {
    assert!(PROBLEM.contains(from), "{from}");
    let domain = parse_domain("d", DOMAIN.as_bytes()).expect("a domain");
    let text = PROBLEM.replacen(from, to, 1);
    shown(&parse_problem("p", text.as_bytes(), &domain).expect_err(to))
}

#[test]
fn domains_that_are_wrong_are_refused_at_the_place() {
    for (from, to, expected) in [
        ("(on ?x ?y) (not", "(on ?x) (not", "invalid d:7:24 `on` has 2 arguments, and 1 are given"),
        ("(on ?x ?y) (not", "(above ?x ?y) (not", "invalid d:7:25 `above` is no predicate"),
        ("(on ?x ?y) (not", "(on ?x ?z) (not", "invalid d:7:31 `?z` is no parameter here"),
        (" - block) (clear", " - stone) (clear", "invalid d:4:28 `stone` is no type"),
        ("(clear ?x - block)", "(on ?x - block)", "invalid d:4:35 `on` is declared twice"),
        ("(:types block - object)", "(:types block - stone stone - block)", "invalid d:3:33"),
        ("?y - block) (clear", "?x - block) (clear", "invalid d:4:23 `?x` is listed twice"),
        (":precondition (and", ":when (and", "invalid d:7:5 `:when` is no part"),
        (":strips", ":magic", "invalid d:2:18 `:magic` is no requirement"),
        (":predicates", ":predicate", "invalid d:4:3 `:predicate` is no section"),
        ("(domain d)", "(problem d)", "invalid d:1:9 a domain is expected here"),
        ("(length ?x)))))", "(length ?x))))", "invalid d:1:1 the file ends before this list is"),
    ] {
        let error = domain_error(from, to);
        assert!(error.starts_with(expected), "{to}: {error}");
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for (from, to, expected) in [
        ("(on ?x ?y) (not", "(or (on ?x ?y)) (not", "unsupported d:7:24 `(or …)` is not supported"),
        ("(on ?x ?y) (not", "(forall (?z) (on ?z ?y)) (not", "unsupported d:7:24 `(forall …)`"),
        ("(clear ?y) (not", "(forall (?z) (clear ?z)) (not", "unsupported d:8:18 `(forall …)`"),
        ("?y - block)\n", "?y - (either block))\n", "unsupported d:6:38 types with `either`"),
        ("(increase (total-cost)", "(increase (length ?x)", "unsupported d:8:56 only (increase"),
        (
            "(increase (total-cost) (length ?x))",
            "(when (clear ?x) (increase (total-cost) 1))",
            "unsupported d:8:63 a cost under a condition",
        ),
        ("(:action take", "(:durative-action take", "unsupported d:6:3 (:durative-action …)"),
    ] {
        let error = domain_error(from, to);
        assert!(error.starts_with(expected), "{to}: {error}");
    }
}

#[test]
fn problems_that_are_wrong_are_refused_at_the_place() {
    for (from, to, expected) in [
        ("(:domain d)", "(:domain e)", "invalid p:1:30 this is a problem of the domain `e`, and"),
        ("(on a b)", "(on a c)", "invalid p:3:16 `c` is no object: there are a, b"),
        ("(on a b)", "(on a b) (not (on a b))", "invalid p:3:19 this holds at first, and does not"),
        ("a b - block", "a b", "invalid p:3:14 `a` is of type `object`, and `on` is about `block`"),
        ("(:goal (and (clear b)))", "", "invalid p:1:1 the problem has no section :goal"),
        ("(:init", "(:objects) (:init", "invalid p:3:3 :objects stands twice"),
        ("(on a b)", "(at 5 (on a b))", "unsupported p:3:10 `(at …)` is not supported among"),
        ("minimize", "maximize", "unsupported p:5:3 only (:metric minimize (total-cost))"),
        ("(problem p)", "(domain p)", "invalid p:1:9 a problem is expected here"),
    ] {
        let error = problem_error(from, to);
        assert!(error.starts_with(expected), "{to}: {error}");
    }
}

#[test]
fn costs_need_values() {
    let domain = parse_domain("d", DOMAIN.as_bytes()).expect("a domain");
    let text = PROBLEM.replace("(= (length a) 2)", "");
    let problem = parse_problem("p", text.as_bytes(), &domain).expect("a problem");
    let error = policert_pddl::Task::ground(domain, problem, &mut || false).expect_err("no value");
    assert!(error.to_string().contains("no value of (length a)"), "{error}");
}
