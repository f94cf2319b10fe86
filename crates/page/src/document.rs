//! The frame of a page: head, styles, script.

use policert_outcome::{VERSION, bytes_digest};

use crate::html::{Html, base64};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole file of a page with this title, which holds `main`.
#[must_use]
pub fn page(title: &str, main: &Html) -> String {
    // The browser runs this script alone, and loads nothing.
    let digest = base64(&bytes_digest(SCRIPT.as_bytes()));
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
         script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    );
    let mut html = Html::default();
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |head| {
            head.void("meta", &[("charset", "utf-8")]);
            head.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
            let scale = "width=device-width, initial-scale=1";
            head.void("meta", &[("name", "viewport"), ("content", scale)]);
            head.void("link", &[("rel", "icon"), ("href", "data:,")]);
            head.leaf("title", title);
            head.element("style", &[], |style| style.add(&Html::of_program(STYLE)));
        });
        html.element("body", &[], |body| {
            body.element("a", &[("class", "skip"), ("href", "#main")], |a| {
                a.text("To the content");
            });
            body.element("main", &[("id", "main")], |inside| inside.add(main));
            body.element("footer", &[], |footer| footer.text(&format!("policert {VERSION}")));
            body.element("script", &[], |script| script.add(&Html::of_program(SCRIPT)));
        });
    });
    format!("<!DOCTYPE html>\n{}\n", html.as_str())
}
