//! Whether a suite makes sense: names, values, and what its figures and tables refer to.

use super::{Axes, FigureKind, Suite, plain};

/// The commands that a suite can run.
const COMMANDS: [&str; 7] = ["verify", "reach", "query", "certify", "train", "simulate", "check"];

/// The verdicts that another program's output may mean.
const VERDICTS: [&str; 4] = ["safe", "unsafe", "unknown", "probability"];

/// Checks a suite.
///
/// # Errors
/// The first thing that is wrong.
pub(super) fn check(suite: &Suite) -> Result<(), String> {
    let names = suite.names().into_iter().map(str::to_owned).collect();
    if let Some(name) = twice(names) {
        return Err(format!("the name `{name}` is there twice"));
    }
    let seconds = [suite.seconds].into_iter().chain(suite.quick.as_ref().map(|q| q.seconds));
    if seconds.into_iter().any(|seconds| !(seconds.is_finite() && seconds > 0.0)) {
        return Err("the limit of the time is no positive number".to_owned());
    }
    commands(suite)?;
    let instances = suite.instances.iter().map(|i| (&i.name, &i.axes));
    let configurations = suite.configurations.iter().map(|c| (&c.name, &c.axes));
    for (name, axes) in instances.chain(configurations) {
        check_axes(axes).map_err(|what| format!("`{name}`: {what}"))?;
    }
    for preparation in &suite.preparations {
        check_axes(&preparation.axes).map_err(|what| format!("`{}`: {what}", preparation.makes))?;
    }
    suite.steps().map_err(|failure| failure.to_string())?;
    for key in suite.runs() {
        let filled = suite.filled_arguments(&key);
        filled.map_err(|what| {
            format!("instance `{}`, configuration `{}`: {what}", key.instance, key.configuration)
        })?;
    }
    // Names of instances and figures become names of files.
    let instances = suite.instances.iter().map(|i| plain(&i.name)).collect();
    let figures = suite.figures.iter().map(|f| plain(&f.name)).collect();
    let tables = suite.tables.iter().map(|t| plain(&t.name)).collect();
    for (what, names) in [("instances", instances), ("figures", figures), ("tables", tables)] {
        if let Some(name) = twice(names) {
            return Err(format!(
                "names of two {what} (`{name}`) differ in letters and digits too little: files are \
                 named after them"
            ));
        }
    }
    references(suite)
}

/// Commands are known, and rules for output belong to other programs.
fn commands(suite: &Suite) -> Result<(), String> {
    let commands = suite.instances.iter().map(|i| (&i.name, &i.command));
    let commands = commands.chain(suite.configurations.iter().map(|c| (&c.name, &c.command)));
    for (name, command) in commands {
        if !COMMANDS.contains(&command.as_str()) {
            let known = COMMANDS.join(", ");
            return Err(format!("`{name}`: there is no command `{command}`; commands are {known}"));
        }
    }
    for configuration in &suite.configurations {
        let name = &configuration.name;
        if configuration.program.is_some() == configuration.reads.is_empty() {
            return Err(format!("`{name}`: `program` and `reads` go together"));
        }
        if configuration.optional && configuration.program.is_none() {
            return Err(format!("`{name}`: `optional` goes with `program`"));
        }
        if let Some(rule) = configuration.reads.iter().find(|r| !VERDICTS.contains(&&*r.verdict)) {
            let (verdict, known) = (&rule.verdict, VERDICTS.join(", "));
            return Err(format!("`{name}`: there is no verdict `{verdict}`; verdicts are {known}"));
        }
        if !suite.instances.is_empty()
            && suite.instances.iter().all(|i| i.command != configuration.command)
        {
            let command = &configuration.command;
            return Err(format!("`{name}`: there is no instance for the command {command}"));
        }
    }
    Ok(())
}

fn check_axes(axes: &Axes) -> Result<(), String> {
    for (name, values) in axes {
        if values.is_empty() {
            return Err(format!("the axis {name} has no value"));
        }
        if name == "work" {
            return Err("work is no axis: it is the folder of generated files".to_owned());
        }
        if let Some(value) = twice(values.iter().map(|value| value.0.clone()).collect()) {
            return Err(format!("the axis {name} has {value} twice"));
        }
    }
    Ok(())
}

/// Figures, tables, published numbers and the quick study name what is there.
fn references(suite: &Suite) -> Result<(), String> {
    let configuration = |of: &str, name: &String| {
        let known = suite.configurations.iter().any(|c| c.name == *name);
        known.then_some(()).ok_or(format!("`{of}`: there is no configuration `{name}`"))
    };
    let instance = |of: &str, name: &String| {
        let known = suite.instances.iter().any(|i| i.name == *name);
        known.then_some(()).ok_or(format!("`{of}`: there is no instance `{name}`"))
    };
    for figure in &suite.figures {
        let name = &figure.name;
        figure.configurations.iter().try_for_each(|c| configuration(name, c))?;
        figure.instances.iter().try_for_each(|i| instance(name, i))?;
        match (figure.kind, &figure.x) {
            (FigureKind::Pairs, Some(x)) => {
                [x, &figure.y].into_iter().try_for_each(|c| configuration(name, c))?;
            }
            (FigureKind::Lines | FigureKind::Points, Some(_)) | (FigureKind::Cactus, None) => (),
            (FigureKind::Cactus, Some(_)) => {
                return Err(format!(
                    "`{name}`: the axis of a cactus plot is the number of instances"
                ));
            }
            (FigureKind::Lines | FigureKind::Points | FigureKind::Pairs, None) => {
                return Err(format!("`{name}`: `x` is missing"));
            }
        }
    }
    for table in &suite.tables {
        table.configurations.iter().try_for_each(|c| configuration(&table.name, c))?;
    }
    for published in &suite.published {
        let beside = &published.beside;
        let tables = suite.tables.iter().map(|table| &table.name);
        let mut known = tables.chain(suite.figures.iter().map(|figure| &figure.name));
        if beside != "coverage" && !known.any(|name| name == beside) {
            return Err(format!("`published`: there is no table or figure `{beside}`"));
        }
        let width = published.columns.len();
        if let Some(row) = published.rows.iter().find(|row| row.len() != width) {
            return Err(format!("`published` beside `{beside}`: a row has {} cells", row.len()));
        }
    }
    if let Some(quick) = &suite.quick {
        quick.instances.iter().try_for_each(|i| instance("quick", i))?;
        quick.configurations.iter().try_for_each(|c| configuration("quick", c))?;
        let of_instances = suite.instances.iter().map(|i| &i.axes);
        let all: Vec<&Axes> =
            of_instances.chain(suite.configurations.iter().map(|c| &c.axes)).collect();
        for (name, values) in &quick.axes {
            let known =
                |value| all.iter().any(|axes| axes.get(name).is_some_and(|v| v.contains(value)));
            if let Some(value) = values.iter().find(|value| !known(value)) {
                return Err(format!("`quick`: no axis {name} has the value {}", value.0));
            }
        }
    }
    Ok(())
}

fn twice(mut names: Vec<String>) -> Option<String> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}
