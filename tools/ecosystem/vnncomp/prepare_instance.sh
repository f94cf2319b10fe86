#!/bin/bash
# VNN-COMP, version 1: v1 CATEGORY ONNX VNNLIB. Nothing is prepared; files that are missing are an error.
set -euo pipefail
[ "${1:-}" = v1 ] && [ $# -eq 4 ] || { echo "usage: $0 v1 CATEGORY ONNX VNNLIB"; exit 1; }
for file in "$3" "$4"; do
  [ -f "$file" ] || { echo "$file is not there"; exit 1; }
done
