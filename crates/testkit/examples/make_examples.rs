//! Writes the files of the folder `examples`: `cargo run -p policert-testkit --example make_examples`.

use std::path::Path;

use policert_testkit::examples::example_files;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for file in example_files() {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, file.bytes)?;
    }
    Ok(())
}
