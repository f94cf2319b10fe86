//! The page of one result file.

use serde_json::Value;

use crate::command::shell_command;
use crate::document::page;
use crate::drawing::Pictures;
use crate::film::{Film, Run};
use crate::html::Html;
use crate::invariant::Invariant;
use crate::record::{fields, fields_but};
use crate::table::VERDICTS;
use crate::tube::Tube;

/// What came out when the evidence was checked again for the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recheck {
    /// True if the evidence shows what it claims.
    pub is_confirmed: bool,
    /// The reason why it is not confirmed.
    pub reason: Option<String>,
}

/// The page of one result, with its evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultPage {
    result: Value,
    evidence: Option<Evidence>,
    films: Vec<Film>,
    tube: Option<Tube>,
}

#[derive(Clone, PartialEq, Debug)]
struct Evidence {
    path: String,
    value: Value,
    recheck: Option<Recheck>,
}

/// Members of a result that stand in parts of their own, or that the page says otherwise.
const ELSEWHERE: [&str; 20] = [
    "schema_version",
    "version",
    "arguments",
    "verdict",
    "answer",
    "exit_code",
    "reason",
    "hollow",
    "vacuous",
    "warnings",
    "notes",
    "errors",
    "statistics",
    "semantics",
    "inputs",
    "evidence_file",
    "counterexample",
    "boxes",
    "cells",
    "picture",
];

impl ResultPage {
    /// The page of a result.
    ///
    /// # Errors
    /// If it is no result of this program, or contradicts itself.
    pub fn new(result: Value) -> Result<Self, String> {
        if result["schema_version"].as_u64() != Some(1) || !result["exit_code"].is_u64() {
            return Err("it is no result of policert with `schema_version` 1".to_owned());
        }
        let code = result["exit_code"].as_u64();
        let verdict = result["verdict"].as_str();
        let fits = match verdict {
            Some("safe") => code == Some(0),
            Some("unsafe") => code == Some(10),
            Some("unknown") => matches!(code, Some(20 | 30..=33)),
            Some(_) | None => true,
        };
        if !fits {
            return Err("`verdict` and `exit_code` contradict each other".to_owned());
        }
        let paths = result["counterexample"]["trajectories"].as_array().map_or(0, Vec::len);
        let counterexample = &result["counterexample"];
        let films = (0..paths).map(|number| Film::of_trajectory(counterexample, number));
        let films = films.collect::<Result<Vec<_>, _>>()?;
        let tube = Tube::new(&result)?;
        Ok(Self { result, evidence: None, films, tube })
    }

    /// The path of the evidence that the run wrote, as the result says it.
    #[must_use]
    pub fn evidence_path(&self) -> Option<&str> {
        let file = &self.result["evidence_file"];
        file["path"].as_str().filter(|_| file["written"] == true)
    }

    /// Adds the evidence of the result.
    ///
    /// # Errors
    /// If it is that of another run, or contradicts itself.
    pub fn add_evidence(&mut self, path: &str, evidence: Value) -> Result<(), String> {
        let result = &self.result;
        // A query is answered by no engine, and its evidence is about the answer.
        let of_query = [("verdict", &result["answer"]), ("engine", &evidence["engine"])];
        let of_verdict = [("verdict", &result["verdict"]), ("engine", &result["engine"])];
        let claims = if result["answer"].is_string() { of_query } else { of_verdict };
        let common = ["schema_version", "inputs", "semantics"].map(|name| (name, &result[name]));
        for (name, said) in claims.into_iter().chain(common) {
            if evidence[name] != *said {
                return Err(format!("it is the evidence of another run: `{name}` differs"));
            }
        }
        if evidence["verdict"] == "unsafe" {
            self.films.push(Film::of_evidence(&evidence)?);
        }
        self.evidence = Some(Evidence { path: path.to_owned(), value: evidence, recheck: None });
        Ok(())
    }

    /// Adds pictures of the states of its runs, where `draw` has some.
    pub fn draw(&mut self, draw: impl Fn(&Run<'_>) -> Option<Pictures>) {
        self.films.iter_mut().for_each(|film| film.draw(&draw));
    }

    /// Adds what came out when the evidence was checked again.
    pub fn add_recheck(&mut self, recheck: Recheck) {
        if let Some(evidence) = &mut self.evidence {
            evidence.recheck = Some(recheck);
        }
    }

    /// The page. `name` says which result it is.
    #[must_use]
    pub fn html(&self, name: &str) -> String {
        let mut main = Html::default();
        self.add_verdict(&mut main, name);
        self.add_run(&mut main);
        if let Some(tube) = &self.tube {
            part(&mut main, "states", "Reachable states", |html| tube.add_to(html));
        }
        let evidence = self.evidence.as_ref().map(|evidence| &evidence.value);
        if let Some(invariant) = evidence.and_then(Invariant::new) {
            part(&mut main, "invariant", "The invariant", |html| invariant.add_to(html));
        }
        part(&mut main, "evidence", "Evidence", |html| self.add_evidence_status(html));
        if !self.result["statistics"].is_null() {
            part(&mut main, "counts", "Counts", |html| fields(html, &self.result["statistics"]));
        }
        if !self.result["semantics"].is_null() {
            part(&mut main, "meaning", "What the answer means", |html| {
                fields(html, &self.result["semantics"]);
            });
        }
        part(&mut main, "repeat", "How to repeat it", |html| self.add_command(html));
        part(&mut main, "more", "Everything else", |html| {
            fields_but(html, &self.result, &ELSEWHERE);
        });
        page(name, &main)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.result[name].as_str()
    }

    fn add_verdict(&self, html: &mut Html, name: &str) {
        html.leaf("h1", name);
        let verdict = self.text("verdict").unwrap_or("no verdict");
        let style =
            VERDICTS.iter().find(|(word, _)| *word == verdict).map_or("", |(_, style)| style);
        html.element("p", &[("class", &format!("verdict {style}"))], |p| {
            p.text(verdict);
            if let (Some(low), Some(high)) =
                (self.result["probability"][0].as_str(), self.result["probability"][1].as_str())
            {
                p.text(&match self.text("value") {
                    Some(value) => format!(": {value}"),
                    None => format!(": from {low} to {high}"),
                });
            }
            if let Some(reason) = self.text("reason") {
                p.text(&format!(": {reason}"));
            }
        });
        if self.result["vacuous"] == true {
            note(html, "The verdict is vacuous: there is nothing to check.");
        }
        let texts = |name: &str| self.result[name].as_array().into_iter().flatten();
        for hollow in texts("hollow").filter_map(|hollow| hollow["text"].as_str()) {
            note(html, hollow);
        }
        for warning in texts("warnings").filter_map(Value::as_str) {
            note(html, &format!("Warning: {warning}"));
        }
        for error in texts("errors").filter_map(|error| error["message"].as_str()) {
            note(html, error);
        }
        for text in texts("notes").filter_map(Value::as_str) {
            html.leaf("p", text);
        }
    }

    fn add_run(&self, html: &mut Html) {
        for (number, film) in self.films.iter().enumerate() {
            let id = format!("run-{number}");
            part(html, &id, "The run", |html| film.add_to(html, &format!("film-{number}")));
        }
    }

    fn add_evidence_status(&self, html: &mut Html) {
        let record = &self.result["evidence_file"];
        let Some(evidence) = &self.evidence else {
            html.leaf(
                "p",
                &match (record["written"].as_bool(), record["reason"].as_str()) {
                    (Some(true), _) => {
                        "The run wrote evidence, which this page was made without.".to_owned()
                    }
                    (Some(false), Some(reason)) => format!("The run has no evidence: {reason}."),
                    _ => "The run wrote no evidence; --evidence FILE does.".to_owned(),
                },
            );
            return;
        };
        let value = &evidence.value;
        let count = |name: &str| value[name].as_array().map(Vec::len);
        let what = if let Some(nodes) = value["diagram"]["nodes"].as_array() {
            format!("an inductive invariant, as a decision diagram of {} nodes", nodes.len())
        } else if let Some(boxes) = count("invariant") {
            format!("an inductive invariant of {boxes} boxes")
        } else if let Some(states) = count("values") {
            format!("bounds of the probability in {states} states")
        } else if value["witness"].is_object() || value["witness"].is_array() {
            "a witness".to_owned()
        } else if !value["refutation"].is_null() {
            "a refutation of each part".to_owned()
        } else {
            format!("a run of {} steps", value["steps"])
        };
        html.leaf("p", &format!("{}: {what}.", evidence.path));
        if let Some(condition) = value["unsafe_condition"].as_str() {
            html.leaf("p", &format!("Unsafe are states with {condition}."));
        }
        match &evidence.recheck {
            None => html.leaf(
                "p",
                "This page shows what the file says. It agrees with the result about engine, inputs and \
                 meaning; it was not checked for this page.",
            ),
            Some(Recheck { is_confirmed: true, .. }) => html.element("p", &[("class", "safe")], |p| {
                p.text("Confirmed: the file was checked again when this page was made.");
            }),
            Some(Recheck { reason, .. }) => note(html, &format!(
                "Not confirmed when this page was made: {}",
                reason.as_deref().unwrap_or("the check did not end")
            )),
        }
        html.element("pre", &[], |pre| {
            pre.whole(&shell_command(["policert", "certify", &evidence.path]));
        });
    }

    fn add_command(&self, html: &mut Html) {
        let words = self.result["arguments"].as_array();
        let words: Option<Vec<&str>> =
            words.and_then(|words| words.iter().map(Value::as_str).collect());
        match words {
            Some(words) => html.element("pre", &[], |pre| {
                pre.whole(&shell_command([&["policert"], &*words].concat()));
            }),
            None => html.leaf("p", "The result does not say how the program was called."),
        }
        html.leaf(
            "p",
            &format!("policert {}", self.text("version").unwrap_or("of an unknown version")),
        );
        let inputs = serde_json::json!({ "files": self.result["inputs"] });
        fields(html, &inputs);
    }
}

/// A part of the page with a heading.
fn part(html: &mut Html, id: &str, title: &str, inside: impl FnOnce(&mut Html)) {
    html.element("section", &[("aria-labelledby", id)], |section| {
        section.element("h2", &[("id", id)], |h2| h2.text(title));
        inside(section);
    });
}

fn note(html: &mut Html, text: &str) {
    html.element("p", &[("class", "note")], |p| p.text(text));
}
