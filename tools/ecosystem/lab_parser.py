"""Parser of policert for Lab: reads `result.json`, which a run writes with `--json result.json`.

    experiment.add_parser(PolicertParser())
"""

import json

from lab.parser import Parser

# Members of the result that become properties of a run as they are.
MEMBERS = ("verdict", "reason", "engine", "preset", "time_s", "peak_memory_mb", "probability", "value")


def read_result(content, props):
    """Adds what the result file says. `content` is the file's text; it is empty if there is none."""
    try:
        data = json.loads(content)
    except json.JSONDecodeError:
        props.add_unexplained_error("there is no result file")
        return
    for name in MEMBERS:
        if data.get(name) is not None:
            props[name] = data[name]
    props["exit_code"] = data["exit_code"]
    props["solved"] = int(data.get("verdict") in ("safe", "unsafe", "probability"))
    for name, value in (data.get("statistics") or {}).items():
        if isinstance(value, int | float):
            props[name] = value
    if data["exit_code"] in (40, 41, 42, 50, 51):
        props.add_unexplained_error(data.get("reason") or f"exit code {data['exit_code']}")


class PolicertParser(Parser):
    """What a run of policert says."""

    def __init__(self, file="result.json"):
        super().__init__()
        self.add_function(read_result, file=file)
