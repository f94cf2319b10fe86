//! Automata: locations, edges, destinations and assignments.

use std::sync::Arc;

use super::Parser;
use crate::{
    ast::{
        AssignedValue, Assignment, Automaton, Destination, Edge, Edges, Location, TransientValue,
    },
    diagnostic::DiagnosticCode,
    json::{Json, JsonNodeId},
    source::{Source, Sources},
};

/// Reads the edges of an automaton again, one by one. What is wrong with them was said.
pub(crate) struct EdgeReader {
    list: Option<(Arc<Source>, JsonNodeId)>,
}

impl EdgeReader {
    /// From the first edge on.
    pub fn new(edges: &Edges, sources: &Sources) -> Self {
        let first = || {
            let at = edges.at?;
            let source = sources.source(at.source)?;
            let first = Json::new(&source, at.node).elements().next()?.at().node;
            Some((source, first))
        };
        Self { list: first() }
    }

    /// The next edge that can be read; `None` also after a stop.
    pub fn next(&mut self, parser: &mut Parser) -> Option<Edge> {
        loop {
            if parser.watch.step() {
                return None;
            }
            let (source, node) = self.list.take()?;
            let json = Json::new(&source, node);
            let next = json.next_element().map(|next| next.at().node);
            let edge = parser.again(|parser| parser.edge(json));
            self.list = next.map(|next| (source, next));
            if edge.is_some() {
                return edge;
            }
        }
    }
}

impl Parser {
    pub(super) fn automaton(&mut self, json: Json<'_>) -> Option<Automaton> {
        let mut m = self.members(json, "an automaton")?;
        let name = self.required_name(&mut m, "name");
        let variables = self.optional_list(&mut m, "variables", Self::variable);
        let functions = self.optional_list(&mut m, "functions", Self::function);
        let locations = self.required_list(&mut m, "locations", Self::location);
        let initial_locations = self.required_list(&mut m, "initial-locations", Self::name);
        let restrict_initial =
            m.take("restrict-initial").and_then(|r| self.wrapped_expr(r, "a restriction"));
        let edges = self.required(&mut m, "edges").map(|list| self.edges(list));
        self.finish(&m);
        Some(Automaton {
            name: name?,
            variables,
            functions,
            locations,
            initial_locations,
            restrict_initial,
            edges: edges.unwrap_or_default(),
        })
    }

    fn edges(&mut self, list: Json<'_>) -> Edges {
        let mut edges = Edges::of_list(list.at());
        // None is kept.
        let _: Vec<()> = self.list(list, |parser, json| {
            edges.count_in(&parser.edge(json)?);
            None
        });
        edges
    }

    fn location(&mut self, json: Json<'_>) -> Option<Location> {
        let mut m = self.members(json, "a location")?;
        let name = self.required_name(&mut m, "name");
        let time_progress =
            m.take("time-progress").and_then(|t| self.wrapped_expr(t, "a time progress condition"));
        let transient_values = self.optional_list(&mut m, "transient-values", |p, json| {
            let mut m = p.members(json, "a transient value")?;
            let target = p.required(&mut m, "ref").map(|r| p.expr(r));
            let value = p.required(&mut m, "value").map(|v| p.expr(v));
            p.finish(&m);
            Some(TransientValue { target: target?, value: value? })
        });
        self.finish(&m);
        Some(Location { name: name?, time_progress, transient_values })
    }

    fn edge(&mut self, json: Json<'_>) -> Option<Edge> {
        let mut m = self.members(json, "an edge")?;
        let location = self.required_name(&mut m, "location");
        let action = m.take("action").and_then(|a| self.name(a));
        let guard = m.take("guard").and_then(|g| self.wrapped_expr(g, "a guard"));
        let rate = m.take("rate").and_then(|r| self.wrapped_expr(r, "a rate"));
        let assignments = self.optional_list(&mut m, "assignments", Self::assignment);
        let destinations = self.required_list(&mut m, "destinations", Self::destination);
        self.finish(&m);
        Some(Edge {
            at: json.at(),
            location: location?,
            action,
            guard,
            rate,
            assignments,
            destinations,
        })
    }

    fn destination(&mut self, json: Json<'_>) -> Option<Destination> {
        let mut m = self.members(json, "a destination")?;
        let location = self.required_name(&mut m, "location");
        let probability = m.take("probability").and_then(|p| self.wrapped_expr(p, "a probability"));
        let assignments = self.optional_list(&mut m, "assignments", Self::assignment);
        self.finish(&m);
        Some(Destination { location: location?, probability, assignments })
    }

    fn assignment(&mut self, json: Json<'_>) -> Option<Assignment> {
        let mut m = self.members(json, "an assignment")?;
        let target = self.required(&mut m, "ref").map(|r| self.expr(r));
        let value = m.take("value").map(|v| self.expr(v));
        let lower = m.take("lower-bound").map(|b| self.expr(b));
        let upper = m.take("upper-bound").map(|b| self.expr(b));
        let index = m.take("index").map_or(Some(0), |i| self.integer(i));
        self.finish(&m);
        let value = match (value, lower, upper) {
            (Some(value), None, None) => AssignedValue::Expr(value),
            (None, Some(lower), Some(upper)) => AssignedValue::Between(lower, upper),
            _ => {
                let message =
                    "an assignment has either `value`, or `lower-bound` and `upper-bound`";
                self.diagnostics.invalid(DiagnosticCode::MissingKey, json.at(), message);
                return None;
            }
        };
        Some(Assignment { at: json.at(), target: target?, value, index: index? })
    }
}
