#!/bin/bash
# VNN-COMP, version 1: builds policert. The only argument is the version of the scripts.
set -euo pipefail
[ "${1:-}" = v1 ] || { echo "usage: $0 v1"; exit 1; }
cd "$(dirname "$0")/../../.."
cargo build --release --bin policert
