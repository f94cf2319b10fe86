//! The run of an evidence file, state by state.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::drawing::Pictures;
use crate::html::Html;
use crate::record::plain;

/// The most values of variables that a film has; a longer run is cut.
const MOST_VALUES: usize = 400_000;

/// A run: its states, and what happened between them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Film {
    /// The names of the variables.
    variables: Vec<String>,
    /// Their values in each state, the start state first.
    states: Vec<Vec<String>>,
    /// What led to each state but the first.
    steps: Vec<Step>,
    /// How the run ends.
    end: String,
    /// The number of steps that are left out at its end.
    left_out: usize,
    /// What the model may be called: its file, and its automata.
    models: Vec<String>,
    /// Pictures of the states.
    pictures: Option<Pictures>,
}

/// A run whose states are to be drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run<'a> {
    /// What the model may be called: the name of its file without the ending, and those of its automata.
    pub models: Vec<&'a str>,
    /// The names of the variables.
    pub variables: &'a [String],
    /// Their values in each state; truth values are 0 and 1.
    pub states: Vec<Vec<i64>>,
}

/// What happened in a step.
#[derive(Clone, PartialEq, Debug, Default)]
struct Step {
    /// The label, or what a step is called.
    label: String,
    /// Who chose it, and what besides.
    by: String,
    /// The variables that changed, with their values before and after.
    changes: Vec<String>,
}

impl Film {
    /// The run of an evidence file of the verdict *unsafe*.
    ///
    /// # Errors
    /// Where the file contradicts itself: the number of steps, or a state that does not follow.
    pub fn of_evidence(evidence: &Value) -> Result<Self, String> {
        let missing = |name: &str| format!("`{name}` is missing, or is no such thing");
        let start = evidence["start"].as_object().ok_or_else(|| missing("start"))?;
        let trace = evidence["trace"].as_array().ok_or_else(|| missing("trace"))?;
        if evidence["steps"].as_u64() != u64::try_from(trace.len()).ok() {
            return Err("`steps` is not the number of steps in `trace`".to_owned());
        }
        let mut film = Self { variables: start.keys().cloned().collect(), ..Self::default() };
        film.states.push(film.values(start).ok_or_else(|| missing("start"))?);
        let mut before = start;
        for (at, step) in trace.iter().enumerate() {
            let wrong = |what: &str| format!("step {}: {what}", at + 1);
            let after = step["state"].as_object().ok_or_else(|| wrong("there is no `state`"))?;
            let values = film.values(after).ok_or_else(|| wrong("`state` has other variables"))?;
            let differ = after.iter().filter(|(name, value)| before[*name] != **value);
            let differ: Map<String, Value> =
                differ.map(|(name, value)| (name.clone(), json!([before[name], value]))).collect();
            // Members of an object have no order.
            if step["changed"] != Value::Object(differ.clone()) {
                return Err(wrong("`changed` is not how `state` differs from the state before"));
            }
            if (film.states.len() + 1) * film.variables.len() > MOST_VALUES {
                film.left_out += 1;
            } else {
                film.states.push(values);
                film.steps.push(Step::of_evidence(step, &differ));
            }
            before = after;
        }
        film.models = model_names(evidence);
        film.end = match evidence["end"]["kind"].as_str() {
            Some("unsafe") => "in an unsafe state".to_owned(),
            Some("stuck") => "in a state without successors".to_owned(),
            Some("terminal") => "in a terminal state that is no goal".to_owned(),
            Some("loop") => {
                format!("back in the state after step {}", plain(&evidence["end"]["back_to"]))
            }
            _ => return Err(missing("end")),
        };
        Ok(film)
    }

    /// The trajectory of a counterexample of a control loop.
    ///
    /// # Errors
    /// If it is no trajectory over these variables.
    pub fn of_trajectory(counterexample: &Value, number: usize) -> Result<Self, String> {
        let names = |name: &str| -> Vec<String> {
            counterexample[name].as_array().into_iter().flatten().map(plain).collect()
        };
        let (variables, controls) = (names("variables"), names("controls"));
        let path = &counterexample["trajectories"][number];
        let boxes = |name: &str| -> Vec<Vec<String>> {
            let boxes = path[name].as_array().into_iter().flatten();
            boxes.map(|b| b.as_array().into_iter().flatten().map(range).collect()).collect()
        };
        let (mut states, actions) = (boxes("states"), boxes("actions"));
        let fits = |values: &Vec<String>, names: &Vec<String>| values.len() == names.len();
        if states.is_empty()
            || variables.is_empty()
            || !states.iter().all(|state| fits(state, &variables))
            || !actions.iter().all(|action| fits(action, &controls))
        {
            return Err(format!("trajectory {number} has no states over its variables"));
        }
        let kept = states.len().min((MOST_VALUES / variables.len()).max(1));
        let left_out = states.len() - kept;
        states.truncate(kept);
        let steps = (1..kept).map(|at| {
            let action = actions.get(at - 1).into_iter().flatten().zip(&controls);
            Step {
                label: action
                    .map(|(value, name)| format!("{name} = {value}"))
                    .collect::<Vec<_>>()
                    .join(", "),
                by: "policy".to_owned(),
                changes: Vec::new(),
            }
        });
        let steps = steps.collect();
        let end = match counterexample["kind"].as_str() {
            Some("unsafe") => "in the unsafe set".to_owned(),
            _ => "without having met the goal".to_owned(),
        };
        Ok(Self { variables, states, steps, end, left_out, ..Self::default() })
    }

    fn values(&self, state: &Map<String, Value>) -> Option<Vec<String>> {
        let values = self.variables.iter().map(|name| state.get(name).map(plain));
        values.collect::<Option<Vec<_>>>().filter(|values| values.len() == state.len())
    }

    /// Adds pictures of the states, if `draw` has some for this run. There are none of states whose
    /// values are not all integers or truth values.
    pub fn draw(&mut self, draw: impl FnOnce(&Run<'_>) -> Option<Pictures>) {
        let number = |text: &String| match text.as_str() {
            "yes" => Some(1),
            "no" => Some(0),
            text => text.parse().ok(),
        };
        let state = |values: &Vec<String>| values.iter().map(number).collect();
        let Some(states) = self.states.iter().map(state).collect() else { return };
        let models = self.models.iter().map(String::as_str).collect();
        self.pictures = draw(&Run { models, variables: &self.variables, states });
    }

    /// Adds the film to a page, under an id of its own.
    pub fn add_to(&self, html: &mut Html, id: &str) {
        let data = format!("{id}-states");
        let label =
            [("class", "film"), ("role", "group"), ("aria-label", "The run, state by state")];
        let attributes: Vec<_> =
            label.into_iter().chain([("data-states", data.as_str())]).collect();
        html.element("div", &attributes, |film| {
            film.element("div", &[("class", "buttons"), ("hidden", "")], |html| {
                for (name, text) in [
                    ("first", "Start"),
                    ("back", "Back"),
                    ("play", "Play"),
                    ("next", "Next"),
                    ("last", "End"),
                ] {
                    html.element("button", &[("type", "button"), ("data-do", name)], |button| {
                        button.text(text);
                    });
                }
                html.element("output", &[("aria-live", "polite")], |_| ());
            });
            film.element("p", &[], |p| p.text("Arrow keys, Home and End move along the run."));
            if let Some(pictures) = &self.pictures {
                pictures.add_to(film, id);
            }
            film.element("div", &[("class", "states")], |html| {
                self.add_state(html);
                self.add_steps(html);
            });
            film.data(&data, &json!(self.states));
        });
        if self.left_out > 0 {
            let text = format!("{} more steps are in the file, not on this page.", self.left_out);
            html.element("p", &[("class", "note")], |p| p.text(&text));
        }
    }

    fn add_state(&self, html: &mut Html) {
        html.element("table", &[("class", "state")], |table| {
            table.leaf("caption", "State");
            table.element("tbody", &[], |body| {
                for (name, value) in self.variables.iter().zip(self.states.iter().flatten()) {
                    body.element("tr", &[], |row| {
                        row.element("th", &[("scope", "row")], |th| th.text(name));
                        row.leaf("td", value);
                    });
                }
            });
        });
    }

    fn add_steps(&self, html: &mut Html) {
        let label = [
            ("class", "steps wide"),
            ("tabindex", "0"),
            ("role", "region"),
            ("aria-label", "Steps"),
        ];
        html.element("div", &label, |html| {
            html.element("table", &[], |table| {
                table.leaf("caption", &format!("Steps; the run ends {}", self.end));
                table.element("thead", &[], |head| {
                    head.element("tr", &[], |row| {
                        for name in ["Step", "Label", "By", "Changes"] {
                            row.element("th", &[("scope", "col")], |th| th.text(name));
                        }
                    });
                });
                table.element("tbody", &[], |body| {
                    body.element("tr", &[], |row| {
                        row.element("th", &[("scope", "row")], |th| th.text("0"));
                        row.element("td", &[("colspan", "3")], |td| td.text("start state"));
                    });
                    for (at, step) in self.steps.iter().enumerate() {
                        body.element("tr", &[], |row| step.add_to(row, at + 1));
                    }
                });
            });
        });
    }
}

impl Step {
    fn of_evidence(step: &Value, changed: &Map<String, Value>) -> Self {
        let mut by = step["by"].as_str().unwrap_or_default().to_owned();
        if let Some(chance) = step["probability"].as_str().filter(|chance| *chance != "1") {
            by = format!("{by}; chance: {chance}");
        }
        let change = |(name, pair): (&String, &Value)| {
            format!("{name}: {} → {}", plain(&pair[0]), plain(&pair[1]))
        };
        Self {
            label: step["label"].as_str().unwrap_or("silent step").to_owned(),
            by,
            changes: changed.iter().map(change).collect(),
        }
    }

    fn add_to(&self, row: &mut Html, number: usize) {
        row.element("th", &[("scope", "row")], |th| th.text(&number.to_string()));
        row.leaf("td", &self.label);
        row.leaf("td", &self.by);
        row.element("td", &[], |td| {
            for (at, change) in self.changes.iter().enumerate() {
                td.text(if at == 0 { "" } else { ", " });
                td.text(change);
            }
        });
    }
}

/// What the model of an evidence file may be called.
fn model_names(evidence: &Value) -> Vec<String> {
    let file = evidence["task"]["model"].as_str().map(Path::new);
    let stem = file.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let steps = evidence["trace"].as_array().into_iter().flatten();
    let edges = steps.flat_map(|step| step["operator"]["edges"].as_array().into_iter().flatten());
    let automata: BTreeSet<&str> = edges.filter_map(|edge| edge["automaton"].as_str()).collect();
    stem.into_iter().chain(automata.into_iter().map(str::to_owned)).collect()
}

/// A range of values, or the value if there is one alone.
fn range(pair: &Value) -> String {
    match pair.as_array().map(Vec::as_slice) {
        Some([low, high]) if low == high => plain(low),
        Some([low, high]) => format!("{} to {}", plain(low), plain(high)),
        _ => plain(pair),
    }
}
