//! `policert` with the engines of the library.

use std::process::ExitCode;

use policert_verify::Registry;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    policert_cli::main(Registry::standard())
}
