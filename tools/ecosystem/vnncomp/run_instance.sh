#!/bin/bash
# VNN-COMP, version 1: v1 CATEGORY ONNX VNNLIB RESULTS SECONDS. Writes sat with the witness, unsat, timeout, unknown or
# error. POLICERT names the program, by default the one that install_tool.sh built.
set -uo pipefail
[ "${1:-}" = v1 ] && [ $# -eq 6 ] || { echo "usage: $0 v1 CATEGORY ONNX VNNLIB RESULTS SECONDS"; exit 1; }
policert=${POLICERT:-$(dirname "$0")/../../../target/release/policert}
"$policert" query "$3" "$4" --timeout "$6s" >"$5"
case $? in
0 | 10 | 20 | 30 | 31) ;;
*) echo error >"$5" ;;
esac
# Out of memory is no answer.
[ -s "$5" ] || echo unknown >"$5"
exit 0
