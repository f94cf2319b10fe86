//! The documentation as a site, by mdBook (`book.toml`). Links to files of the repository that are no page
//! become links to the repository, and every link has to lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

/// Where mdBook writes the site, and where it finds the pages.
const SITE: &str = "target/book";
const PAGES: &str = "docs";

/// The program, where `./x docs` installs it, or from the path.
pub fn program(root: &Path) -> Option<PathBuf> {
    let own = root.join(".tools/mdbook/bin/mdbook");
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&folders).map(|folder| folder.join("mdbook"));
    if own.is_file() { Some(own) } else { all.find(|path| path.is_file()) }
}

/// Builds the site, and says which links lead nowhere.
pub fn build(root: &Path) -> Result<bool> {
    let program = program(root).context("mdbook is missing: `./x docs` installs it")?;
    let status = Command::new(&program).arg("build").current_dir(root).status();
    if !status.with_context(|| format!("could not start {}", program.display()))?.success() {
        return Ok(false);
    }
    let book = std::fs::read_to_string(root.join("book.toml"))?;
    let site = Site { root, repository: value(&book, "git-repository-url")?, pages: pages(root)? };
    let mut dead = Vec::new();
    for (page, text) in &site.pages {
        let mended = site.mended(page, text, &mut dead);
        if mended != *text {
            std::fs::write(root.join(SITE).join(page), mended)?;
        }
    }
    for link in &dead {
        println!("{link}");
    }
    println!("{SITE}: {} pages, {} links lead nowhere", site.pages.len(), dead.len());
    Ok(dead.is_empty())
}

/// The value of a key of the configuration.
fn value(book: &str, key: &str) -> Result<String> {
    let line = book.lines().find_map(|line| line.strip_prefix(key)?.split('"').nth(1));
    Ok(line.with_context(|| format!("book.toml has no {key}"))?.to_owned())
}

/// The pages of the site: their paths in it, and their texts.
fn pages(root: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let site = root.join(SITE);
    let (mut folders, mut pages) = (vec![site.clone()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let name = path.strip_prefix(&site)?.to_owned();
                pages.insert(name, std::fs::read_to_string(&path)?);
            }
        }
    }
    Ok(pages)
}

struct Site<'a> {
    root: &'a Path,
    repository: String,
    pages: BTreeMap<PathBuf, String>,
}

impl Site<'_> {
    /// A page with links that leave the book mended; what leads nowhere is noted.
    fn mended(&self, page: &Path, text: &str, dead: &mut Vec<String>) -> String {
        let mut mended = String::with_capacity(text.len());
        for (i, part) in text.split("<a href=\"").enumerate() {
            let Some((link, rest)) = part.split_once('"').filter(|_| i > 0) else {
                mended.push_str(part);
                continue;
            };
            mended.push_str("<a href=\"");
            match self.led(page, link) {
                Some(led) => mended.push_str(&led),
                None => {
                    dead.push(format!("{}: {link}", page.display()));
                    mended.push_str(link);
                }
            }
            mended.push('"');
            mended.push_str(rest);
        }
        mended
    }

    /// What a link becomes, if it leads somewhere.
    fn led(&self, page: &Path, link: &str) -> Option<String> {
        if link.contains("://") || link.starts_with("mailto:") {
            return Some(link.to_owned());
        }
        let (path, place) = link.split_once('#').unwrap_or((link, ""));
        let beside = Path::new(PAGES).join(page);
        let target = match path {
            "" => beside,
            _ => normal(&beside.parent()?.join(path))?,
        };
        if let Ok(inside) = target.strip_prefix(PAGES) {
            return match self.pages.get(inside) {
                Some(text) => {
                    (place.is_empty() || places(text).contains(place)).then(|| link.to_owned())
                }
                None => self.root.join(SITE).join(inside).is_file().then(|| link.to_owned()),
            };
        }
        // mdBook takes every page of Markdown for one of the book.
        let source = [target.clone(), target.with_extension("md")];
        let file = source.iter().find(|path| self.root.join(path).exists())?;
        let kind = if self.root.join(file).is_dir() { "tree" } else { "blob" };
        let place = link.find('#').map_or("", |at| &link[at..]);
        Some(format!("{}/{kind}/main/{}{place}", self.repository, file.display()))
    }
}

/// The places on a page that a link can name.
fn places(text: &str) -> BTreeSet<&str> {
    text.split(" id=\"").skip(1).filter_map(|part| Some(part.split_once('"')?.0)).collect()
}

/// A relative path without `..`; `None` if it leads out of the repository.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => normal.pop().then_some(())?,
            Component::CurDir => {}
            Component::Normal(name) => normal.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_places_and_the_repository() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        let texts = [
            ("a.html", r#"<h1 id="top">"#),
            ("formats/b.html", r#"<a href="../a.html#top"> <a href="../../book.html">"#),
        ];
        let pages = texts.map(|(path, text)| (PathBuf::from(path), text.to_owned()));
        let repository = "https://example.org/p".to_owned();
        let site = Site { root, repository, pages: pages.into_iter().collect() };
        let page = Path::new("formats/b.html");
        assert_eq!(site.led(page, "../a.html#top").as_deref(), Some("../a.html#top"));
        assert_eq!(site.led(page, "../a.html#bottom"), None);
        assert_eq!(site.led(page, "../c.html"), None);
        assert_eq!(site.led(page, "../../../c.html"), None);
        let outside = site.led(page, "../../STYLE.html#x");
        assert_eq!(outside, None, "no such file");
        let outside = site.led(page, "../../ARCHITECTURE.html#levels");
        assert_eq!(
            outside.as_deref(),
            Some("https://example.org/p/blob/main/ARCHITECTURE.md#levels")
        );
        let folder = site.led(Path::new("a.html"), "../notebooks");
        assert_eq!(folder.as_deref(), Some("https://example.org/p/tree/main/notebooks"));
        let mut dead = Vec::new();
        let text = site.pages[page].clone();
        assert_eq!(site.mended(page, &text, &mut dead), text);
        assert_eq!(dead, ["formats/b.html: ../../book.html"]);
    }
}
