"""Tool-info module of policert for BenchExec. With PYTHONPATH=tools: <benchmark tool="ecosystem.benchexec_tool">.

A task names the model as its input file. Its options (`options:` of the task definition) become options of
`policert verify`, for example `property: pa.jani:0` and `interface: net.jani2nnet`; files are relative to the model, and what is
no file there is a name, such as that of a property of the model. Options of the benchmark definition are appended.
"""

from pathlib import Path

import benchexec.result as result
from benchexec.tools.template import BaseTool2

# Options of tasks that name files.
FILES = ("property", "interface", "policy")

# docs/exit-codes.md
RESULTS = {
    0: result.RESULT_TRUE_PROP,
    10: result.RESULT_FALSE_PROP,
    20: result.RESULT_UNKNOWN,
    30: result.RESULT_TIMEOUT,
    31: "OUT OF MEMORY",
    32: result.RESULT_UNKNOWN + " (limit)",
    33: result.RESULT_UNKNOWN + " (interrupted)",
    40: result.RESULT_ERROR + " (invalid input)",
    41: result.RESULT_ERROR + " (unsupported)",
    42: result.RESULT_ERROR + " (usage)",
    50: result.RESULT_ERROR + " (internal)",
    51: result.RESULT_ERROR + " (evidence rejected)",
}


def path_of(folder, value):
    """The path of a file of a task, `FILE` or `FILE:N`; the name of a property of the model stays as it is."""
    is_file = any((folder / name).is_file() for name in (value, value.rpartition(":")[0]) if name)
    return str(folder / value) if is_file else value


class Tool(BaseTool2):
    """How BenchExec calls policert and reads what it says."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("policert")

    def name(self):
        return "policert"

    def project_url(self):
        return "https://github.com/policert/policert"

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="policert")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "verify", task.single_input_file]
        folder = Path(task.single_input_file).parent
        for name, value in (task.options or {}).items():
            # A definition's options are texts, numbers, or true for an option without value.
            value = path_of(folder, str(value)) if name in FILES else value
            command.append(f"--{name}")
            if value is not True:
                command.append(str(value))
        command += options
        # A second before the limit, so that the program says itself why it ends.
        if rlimits.cputime and not any(option.startswith("--timeout") for option in options):
            command += ["--timeout", f"{max(1, rlimits.cputime - 1)}s"]
        return command

    def determine_result(self, run):
        if run.was_terminated or run.was_timeout or run.exit_code.value is None:
            return result.RESULT_TIMEOUT if run.was_timeout else result.RESULT_ERROR
        for line in run.output:
            if line.startswith("PROBABILITY"):
                return result.RESULT_DONE
        return RESULTS.get(run.exit_code.value, result.RESULT_ERROR)

    def get_value_from_output(self, output, identifier):
        for line in output:
            name, _, value = line.strip().partition(" ")
            if name.rstrip(":") == identifier:
                return value.strip()
        return None
