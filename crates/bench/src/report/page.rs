//! The report as one page: figures, tables that sort and filter, a section for each run.

use policert_generate::StatePicture;
use policert_outcome::Failure;
use policert_page::{Film, Html, Tube, fields_but, page, shell_command};
use serde_json::Value;

use super::Sections;
use super::about::{About, name};
use super::figures::Figure;
use super::tables::{self, all_runs};
use crate::journal::JournalEntry;
use crate::suite::Suite;

/// The page of a study.
pub(super) fn html(
    suite: &Suite,
    entries: &[JournalEntry],
    sections: &Sections,
    about: &About,
) -> Result<String, Failure> {
    let mut main = Html::default();
    main.leaf("h1", &suite.name);
    for text in suite.about.iter().chain([&sections.summary]) {
        main.leaf("p", text);
    }
    contents(&mut main, sections);
    if !sections.tables.is_empty() {
        part(&mut main, "tables", "Tables", |html| {
            for table in &sections.tables {
                table.table.add_to(html);
                for text in &table.texts {
                    html.leaf("p", text);
                }
                published(html, suite, &table.name);
            }
            Ok(())
        })?;
    }
    if !sections.figures.is_empty() {
        part(&mut main, "figures", "Figures", |html| {
            let attributes = [("class", "pictures")];
            let mut drawn = Ok(());
            html.element("div", &attributes, |html| {
                drawn = sections.figures.iter().try_for_each(|figure| add_figure(html, figure));
            });
            let mut names: Vec<&str> = sections.figures.iter().map(|f| f.spec.as_str()).collect();
            names.dedup();
            names.into_iter().for_each(|name| published(html, suite, name));
            drawn
        })?;
    }
    part(&mut main, "runs", "All runs", |html| {
        let numbered: Vec<(usize, &JournalEntry)> = entries.iter().enumerate().collect();
        let caption = "All runs; each leads to its section".to_owned();
        all_runs("all-runs", caption, &numbered, Some(id)).add_to(html);
        html.element("h3", &[], |h3| h3.text("Run by run"));
        numbered.iter().for_each(|(number, entry)| add_run(html, suite, *number, entry));
        Ok(())
    })?;
    part(&mut main, "about", "What this is about", |html| {
        about.add_to(html);
        Ok(())
    })?;
    Ok(page(&suite.name, &main))
}

fn contents(html: &mut Html, sections: &Sections) {
    html.element("nav", &[("aria-label", "Contents")], |nav| {
        nav.element("ul", &[], |list| {
            let tables = !sections.tables.is_empty();
            let figures = !sections.figures.is_empty();
            for (is_there, link, text) in [
                (tables, "#tables", "Tables"),
                (figures, "#figures", "Figures"),
                (true, "#runs", "All runs"),
                (true, "#about", "What this is about"),
            ] {
                if is_there {
                    list.element("li", &[], |li| {
                        li.element("a", &[("href", link)], |a| a.text(text));
                    });
                }
            }
        });
    });
}

fn part(
    html: &mut Html,
    id: &str,
    title: &str,
    inside: impl FnOnce(&mut Html) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut result = Ok(());
    html.element("section", &[("aria-labelledby", id)], |section| {
        section.element("h2", &[("id", id)], |h2| h2.text(title));
        result = inside(section);
    });
    result
}

fn add_figure(html: &mut Html, figure: &Figure) -> Result<(), Failure> {
    let svg = figure.svg()?;
    html.element("figure", &[], |html| {
        html.picture(&svg, &format!("{}; the numbers are in the table below", figure.title()));
        html.element("figcaption", &[], |caption| {
            caption.text(figure.title());
            if let Some(source) = &figure.source {
                caption.text(&format!(" ({source})"));
            }
        });
        html.element("details", &[], |details| {
            details.leaf("summary", "Numbers");
            figure.data().add_to(details);
        });
    });
    Ok(())
}

fn published(html: &mut Html, suite: &Suite, beside: &str) {
    for (number, published) in suite.published.iter().enumerate() {
        if published.beside == beside {
            tables::published(published, number).add_to(html);
            if let Some(note) = &published.note {
                html.leaf("p", note);
            }
        }
    }
}

/// Members of a result that are shown as pictures.
const SHOWN: [&str; 3] = ["film", "counterexample", "picture"];

/// Adds the run to an unsafe state as a film, or the trajectory of a control loop, if there is one.
fn add_pictures(html: &mut Html, report: &Value, number: usize) {
    // What contradicts itself is not shown.
    if let Ok(mut film) = Film::of_evidence(&report["film"]) {
        film.draw(StatePicture::of_run);
        film.add_to(html, &format!("film-{number}"));
    }
    if !report["counterexample"].is_null()
        && let Ok(Some(tube)) = Tube::new(report)
    {
        tube.add_to(html);
    }
}

/// The section of a run.
fn id(number: usize) -> String {
    format!("run-{number}")
}

fn add_run(html: &mut Html, suite: &Suite, number: usize, entry: &JournalEntry) {
    let JournalEntry { arguments, limits: (seconds, memory), version, files, result, .. } = entry;
    html.element("details", &[("class", "run"), ("id", &id(number))], |html| {
        let time = result.time_s;
        html.leaf("summary", &format!("{}: {}, {time:.2} s", name(entry), result.verdict));
        html.leaf("p", &tables::verdict(result));
        if let Some(meaning) = &result.semantics {
            html.leaf("p", meaning);
        }
        let is_other = suite.configuration(&entry.key).is_some_and(|c| c.program.is_some());
        let program = (!is_other).then_some("policert");
        let words = program.into_iter().chain(arguments.iter().map(String::as_str));
        html.element("pre", &[], |pre| pre.whole(&shell_command(words)));
        html.leaf("p", &format!(
            "In the folder {}, by policert {version}, within {seconds} s and {memory}; exit code {}.",
            suite.folder,
            result.exit_code.map_or("none".to_owned(), |code| code.to_string())
        ));
        if !files.is_empty() {
            html.element("ul", &[], |ul| {
                for file in files {
                    ul.leaf("li", &format!("{} {}", file.path.display(), file.sha256));
                }
            });
        }
        add_pictures(html, &result.report, number);
        fields_but(html, &result.report, &SHOWN);
        html.element("p", &[], |p| {
            p.element("a", &[("href", "#runs")], |a| a.text("Back to all runs"));
        });
    });
}
