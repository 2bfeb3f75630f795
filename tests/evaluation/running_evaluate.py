"""`assistant evaluate` in this process or in one of its own, and what it leaves."""

import io
import json
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.cli.main import main

ROOT = Path(__file__).parents[2]
ASSISTANT = [sys.executable, "-W", "ignore", "-m", "assistant"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}


@dataclass(frozen=True)
class Run:
    """A run that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def summary(self) -> dict[str, Any]:
        """The last line."""
        summary: dict[str, Any] = json.loads(self.stdout.splitlines()[-1])
        return summary

    @property
    def refusal(self) -> str:
        """The one sentence of a run that never began."""
        assert self.code == 1, self.stderr
        assert self.stdout == ""
        (line,) = self.stderr.strip().splitlines()
        assert line.startswith("assistant: ")
        return line


def evaluated(*arguments: object) -> Run:
    """Run the command to its end in this process."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = main(["evaluate", *map(str, arguments)])
    return Run(code, out.getvalue(), errors.getvalue())


def process(*arguments: object, program: str = "") -> Run:
    """Run the command to its end as a process; `program` is run first in the same process."""
    command = [*ASSISTANT, "evaluate"]
    if program:
        ends = "\nimport sys\nfrom assistant.cli.main import main\nsys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-W", "ignore", "-c", program + ends, "evaluate"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run's folder, as they were written."""
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text("utf-8").splitlines()]


def timeless(value: Any) -> Any:
    """`value` without what differs from one time to the next."""
    if isinstance(value, dict):
        times = ("timings", "seconds", "latencies", "times")
        return {name: timeless(part) for name, part in value.items() if name not in times}
    return [timeless(part) for part in value] if isinstance(value, list) else value
