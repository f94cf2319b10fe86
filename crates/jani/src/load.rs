//! Loading: files to a model, its sizes, and properties over it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use policert_model::{Condition, Expr, Model, Observable};

use crate::{
    ast,
    check::{self, Checked, Type},
    deep_stack::with_deep_stack,
    diagnostic::{Diagnostic, DiagnosticCode, DiagnosticKind},
    infix,
    json::Json,
    load_options::LoadOptions,
    lower::{self, LoweredModel, PropertyLowerer},
    parse::Parser,
    property::{Property, TrainingRewards},
    selector::{PropertyKey, Selector},
    source::Source,
    stop::{StopCheck, Watch},
    summary::JaniSummary,
};

/// The result of loading a model.
#[derive(Debug)]
pub struct Loaded {
    path: PathBuf,
    diagnostics: Vec<Diagnostic>,
    summary: Option<JaniSummary>,
    own: Vec<OwnProperty>,
    /// The parts of the model that properties need; only where the model was read.
    task: Option<ModelParts>,
    stopped: bool,
}

/// One of the model's own properties, not yet read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnProperty {
    /// Its name.
    pub name: String,
    /// True if it is about the safety of a policy.
    pub is_policy_property: bool,
}

#[derive(Debug)]
struct ModelParts {
    source: Arc<Source>,
    parser: Parser,
    checked: Checked,
    lowered: LoweredModel,
}

/// The result of loading a property.
#[derive(Clone, Debug)]
pub struct LoadedProperty {
    /// The property, if there is nothing wrong with it.
    pub property: Option<Property>,
    /// The rewards that its objective sets for training.
    pub rewards: TrainingRewards,
    /// The diagnostics about this property alone.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read for it, besides the model.
    pub files: Vec<PathBuf>,
    /// True if reading was stopped before its end.
    pub stopped: bool,
}

/// Loads a model from a file.
#[must_use]
pub fn load_model(path: &Path, options: &LoadOptions) -> Loaded {
    with_deep_stack(|| {
        let mut parser = Parser { watch: Watch::new(options.stop.clone()), ..Parser::default() };
        let source = parser.file(path, None);
        load(path, source, parser, options)
    })
}

/// Loads a model from bytes; `path` is its name for people, and what includes are relative to.
#[must_use]
pub fn load_bytes(path: &Path, bytes: Vec<u8>, options: &LoadOptions) -> Loaded {
    with_deep_stack(|| {
        let mut parser = Parser { watch: Watch::new(options.stop.clone()), ..Parser::default() };
        let source = parser.bytes(path, bytes);
        load(path, source, parser, options)
    })
}

fn load(
    path: &Path,
    source: Option<Arc<Source>>,
    mut parser: Parser,
    options: &LoadOptions,
) -> Loaded {
    let mut loaded = Loaded {
        path: path.to_owned(),
        diagnostics: Vec::new(),
        summary: None,
        own: Vec::new(),
        task: None,
        stopped: false,
    };
    if source.is_none() {
        parser.diagnostics.expect_jani();
    }
    if let Some(source) = source {
        loaded.own = own_properties(source.root());
        if let Some(ast) = parser.model(source.root()) {
            loaded.summary = Some(JaniSummary::of(&ast, &parser.names, source.root()));
            loaded.task = task(source, ast, &mut parser, options);
        }
    }
    loaded.stopped = parser.watch.is_stopped();
    if loaded.stopped {
        // Nothing that was found is certain.
        loaded.task = None;
        return loaded;
    }
    loaded.diagnostics = parser.diagnostics.take();
    if let Some(task) = &mut loaded.task {
        // What is read later has a watch of its own.
        task.parser = Parser { watch: Watch::default(), ..parser };
    }
    loaded
}

fn task(
    source: Arc<Source>,
    ast: ast::Model,
    parser: &mut Parser,
    options: &LoadOptions,
) -> Option<ModelParts> {
    let checked = check::check(ast, options, parser);
    lower::unsupported(&checked, &parser.names, &mut parser.diagnostics);
    if parser.diagnostics.has_errors() || parser.watch.is_stopped() {
        return None;
    }
    let lowered = lower::lower(&checked, parser);
    if lowered.is_none() && !parser.diagnostics.has_errors() {
        let message = "the model cannot be used";
        parser.diagnostics.general(DiagnosticCode::Feature, DiagnosticKind::Unsupported, message);
    }
    Some(ModelParts { source, parser: Parser::default(), checked, lowered: lowered? })
}

fn own_properties(root: Json<'_>) -> Vec<OwnProperty> {
    let properties = root.get("properties").into_iter().flat_map(Json::elements);
    let own = properties.map(|property| OwnProperty {
        name: property.get("name").and_then(Json::as_str).unwrap_or_default().into_owned(),
        is_policy_property: is_policy_property(property),
    });
    own.collect()
}

fn is_policy_property(property: Json<'_>) -> bool {
    property.get("expression").and_then(|e| e.get("op")).is_some_and(|op| op.is_key("PA"))
}

impl Loaded {
    /// The model, if there is nothing wrong with it and all of it is supported.
    #[must_use]
    pub fn model(&self) -> Option<&Model> {
        self.task.as_ref().map(|task| &task.lowered.model)
    }

    /// Returns what the transient variables of the model are in states.
    #[must_use]
    pub fn observables(&self) -> Vec<Observable> {
        let Some(task) = &self.task else { return Vec::new() };
        task.lowered.layout.observables(&task.checked, &task.parser.names)
    }

    /// The model by value.
    #[must_use]
    pub fn into_model(self) -> Option<Model> {
        self.task.map(|task| task.lowered.model)
    }

    /// Returns whether loading was stopped before its end: then there is nothing, and no diagnostic
    /// either.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// The path from which it was loaded.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its sizes, if the file is a model at all.
    #[must_use]
    pub fn summary(&self) -> Option<&JaniSummary> {
        self.summary.as_ref()
    }

    /// Returns what was found: errors, then warnings, then notes. Properties have their own.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The model's own properties, in the order of the file.
    #[must_use]
    pub fn own_properties(&self) -> &[OwnProperty] {
        &self.own
    }

    /// Returns which property `text` means, see [`Selector::parse`].
    #[must_use]
    pub fn selector(&self, text: &str) -> Selector {
        let names: Vec<String> = self.own.iter().map(|p| p.name.clone()).collect();
        Selector::parse(text, &names)
    }

    /// Loads a property over the model. There is none, and no diagnostic either, where the model
    /// itself could not be loaded.
    #[must_use]
    pub fn property(&self, selector: &Selector) -> LoadedProperty {
        self.property_until(selector, StopCheck::default())
    }

    /// The same, unless `stop` says that it takes too long.
    #[must_use]
    pub fn property_until(&self, selector: &Selector, stop: StopCheck) -> LoadedProperty {
        let read = self.with_task(stop, |task, parser| {
            let (source, key) = match selector {
                Selector::Own(key) => (Arc::clone(&task.source), key),
                Selector::File(path, key) => (parser.file(path, None)?, key),
            };
            let root = source.root();
            let properties = parser.property_list(root)?;
            let position = match key {
                PropertyKey::Index(index) => Some(*index).filter(|i| *i < properties.len()),
                PropertyKey::Name(name) => properties
                    .iter()
                    .position(|p| p.get("name").and_then(Json::as_str).is_some_and(|n| n == *name)),
            };
            let Some(position) = position else {
                let names: Vec<_> = properties
                    .iter()
                    .filter_map(|p| p.get("name")?.as_str())
                    .take(20)
                    .map(|name| format!("`{name}`"))
                    .collect();
                let message = format!(
                    "there is no property {key} in {}: it has {} ({})",
                    source.path().display(),
                    properties.len(),
                    names.join(", ")
                );
                parser.diagnostics.general(
                    DiagnosticCode::Property,
                    DiagnosticKind::Invalid,
                    message,
                );
                return None;
            };
            if let Some(note) = other_meaning(key, position, &properties) {
                parser.diagnostics.note(DiagnosticCode::Property, properties[position].at(), note);
            }
            let property = parser.property(properties[position]);
            lower_property(task, parser, root, &property)
        });
        let Read { value, diagnostics, files, stopped } = read;
        let (property, rewards) = value.unzip();
        let rewards = rewards.unwrap_or_default();
        LoadedProperty { property, rewards, diagnostics, files, stopped }
    }

    /// Loads a property of a file of properties, or of another model's; positions count from 0.
    #[must_use]
    pub fn property_of_file(&self, path: &Path, index: usize) -> LoadedProperty {
        self.property(&Selector::File(path.to_owned(), PropertyKey::Index(index)))
    }

    /// A condition over the model's states, as a person writes it on a command line: infix, or
    /// as a JANI expression in JSON.
    ///
    /// # Errors
    /// The errors, with their places in the text.
    pub fn condition(&self, text: &str) -> Result<Condition, Vec<Diagnostic>> {
        let (condition, diagnostics) = self.written(text, |lowerer, expr| lowerer.condition(expr));
        condition.ok_or(diagnostics)
    }

    /// A number over the model's states as a person writes it, or a truth value, as 0 and 1.
    ///
    /// # Errors
    /// The errors, with their places in the text.
    pub fn expression(&self, text: &str) -> Result<Expr, Vec<Diagnostic>> {
        let as_type = |ty: Type| {
            let (value, diagnostics) = self
                .written(text, |lowerer, expr| lowerer.scalar(expr, &ty).map(|scalar| scalar.expr));
            value.ok_or(diagnostics)
        };
        as_type(Type::Real).or_else(|diagnostics| as_type(Type::Bool).map_err(|_| diagnostics))
    }

    /// Lowers what a person wrote about the model's states.
    fn written<T: Send>(
        &self,
        text: &str,
        lower: impl FnOnce(&mut PropertyLowerer<'_>, &ast::Expr) -> Option<T> + Send,
    ) -> (Option<T>, Vec<Diagnostic>) {
        let read = self.with_task(StopCheck::default(), |task, parser| {
            let known = task.known_names();
            let expr = infix::read(text, parser, &task.lowered.model, &known)?;
            let mut lowerer = PropertyLowerer {
                checked: &task.checked,
                names: &parser.names,
                lowered: &task.lowered,
                labels: &[],
                diagnostics: &mut parser.diagnostics,
            };
            lower(&mut lowerer, &expr)
        });
        (read.value, read.diagnostics)
    }

    /// Runs `f` with what the model's loading left, on a copy of the parser. There is a value, or
    /// an error among the diagnostics, or no model.
    fn with_task<T: Send>(
        &self,
        stop: StopCheck,
        f: impl FnOnce(&ModelParts, &mut Parser) -> Option<T> + Send,
    ) -> Read<T> {
        let nothing =
            Read { value: None, diagnostics: Vec::new(), files: Vec::new(), stopped: false };
        let Some(task) = &self.task else { return nothing };
        with_deep_stack(|| {
            let mut parser = Parser { watch: Watch::new(stop), ..task.parser.clone() };
            let known = parser.diagnostics.sources.len();
            // Whatever came of it in spite of errors is of no use.
            let value = f(task, &mut parser).filter(|_| !parser.diagnostics.has_errors());
            if parser.watch.is_stopped() {
                // Nothing that was found is certain.
                return Read { stopped: true, ..nothing };
            }
            if value.is_none() && !parser.diagnostics.has_errors() {
                let message = "this cannot be used with the model";
                parser.diagnostics.general(
                    DiagnosticCode::Property,
                    DiagnosticKind::Invalid,
                    message,
                );
            }
            let diagnostics = parser.diagnostics.take();
            let files = parser.diagnostics.sources.paths().skip(known).map(Path::to_owned);
            Read { value, diagnostics, files: files.collect(), stopped: false }
        })
    }
}

/// Returns what else a number could have meant: the name of another property, or another position.
fn other_meaning(key: &PropertyKey, taken: usize, properties: &[Json<'_>]) -> Option<String> {
    let name_of = |at: usize| properties.get(at)?.get("name")?.as_str();
    match key {
        PropertyKey::Name(name) => {
            let position: usize = name.parse().ok()?;
            let other = name_of(position).filter(|_| position != taken)?;
            Some(format!(
                "`{name}` is taken as the name of the property at position {taken}, counted from 0; \
                 `#{position}` is the one at position {position}, `{other}`"
            ))
        }
        PropertyKey::Index(index) => {
            let named = |at: &usize| name_of(*at).is_some_and(|name| name == index.to_string());
            let other = (0..properties.len()).find(named).filter(|other| other != index)?;
            Some(format!(
                "{index} is taken as a position, counted from 0; the property named `{index}` is at \
                 position {other}"
            ))
        }
    }
}

/// Holds what was read over a model, or why not.
struct Read<T> {
    value: Option<T>,
    diagnostics: Vec<Diagnostic>,
    files: Vec<PathBuf>,
    stopped: bool,
}

impl ModelParts {
    /// Returns what expressions may name: variables in both ways, constants, functions and
    /// locations.
    fn known_names(&self) -> Vec<String> {
        let ast = &self.checked.ast;
        let symbols = (self.checked.variables.iter().map(|v| v.name))
            .chain(ast.constants.iter().map(|c| c.name.symbol))
            .chain(ast.functions.iter().map(|f| f.name.symbol))
            .chain(ast.automata.iter().flat_map(|a| &a.locations).map(|l| l.name.symbol));
        let symbols = symbols.map(|symbol| self.parser.names.text(symbol).to_owned());
        symbols.chain(self.lowered.model.variables.iter().map(|v| v.name.clone())).collect()
    }
}

fn lower_property(
    task: &ModelParts,
    parser: &mut Parser,
    root: Json<'_>,
    property: &ast::Property,
) -> Option<(Property, TrainingRewards)> {
    let mut labels = parser.labels(root);
    if root.source().id() != task.source.id() {
        labels.extend(parser.labels(task.source.root()));
    }
    let Parser { diagnostics, names, .. } = parser;
    let mut lowerer = PropertyLowerer {
        checked: &task.checked,
        names,
        lowered: &task.lowered,
        labels: &labels,
        diagnostics,
    };
    let lowered = lowerer.property(property)?;
    Some((lowered, lowerer.rewards(property)))
}
