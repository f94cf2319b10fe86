//! Pages of HTML that people look at. Each is one file that needs nothing besides: styles and a few
//! lines of script of our own are in it, pictures too, and nothing comes from a network.
//!
//! - [`Html`] is text under construction. Whatever a file says goes into it through [`Html::text`], and
//!   tags are texts of this program alone, so that no name in a model becomes a tag or a script.
//! - [`page`] makes the whole file. It lets the browser run our script and no other, by its digest.
//! - [`Table`] is a table that sorts and filters.
//! - [`Film`] is the run of an evidence file, state by state, with [`Pictures`] where the domain has some.
//! - [`Tube`] has the pictures of a control loop: enclosures, trajectories, goal and unsafe sets.
//! - [`ResultPage`] is the page of one result file.
//!
//! ```
//! use policert_page::{Html, page};
//!
//! let mut main = Html::default();
//! main.element("p", &[("id", "\"x")], |p| p.text("<script>alert(1)</script>"));
//! let text = page("A <name>", &main);
//! assert!(text.contains("<title>A &lt;name&gt;</title>"));
//! assert!(text.contains("<p id=\"&quot;x\">&lt;script&gt;alert(1)&lt;/script&gt;</p>"));
//! ```

#![warn(missing_docs)]

mod command;
mod document;
mod drawing;
mod film;
mod frame;
mod html;
mod invariant;
mod record;
mod result;
mod table;
mod tube;

pub use command::shell_command;
pub use document::page;
pub use drawing::{Drawing, Look, Pictures, Shape};
pub use film::{Film, Run};
pub use html::Html;
pub use record::{fields, fields_but, title_of};
pub use result::{Recheck, ResultPage};
pub use table::{Cell, Table};
pub use tube::Tube;
