"""``python -m policert.ray ADDRESS``: what ``policert bench run --ray ADDRESS`` starts."""

from __future__ import annotations

import sys

from .programs import serve

# What is printed besides would be taken for an answer.
answers, sys.stdout = sys.stdout, sys.stderr
serve(sys.argv[1], sys.stdin, answers)
