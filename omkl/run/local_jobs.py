"""Starts the jobs of exec=slurm exec.cluster=local: ``python -m omkl.run.local_jobs FOLDER``.

submitit's local jobs inherit the terminal, pipes and process group of the process that starts them. So a
separate process starts them, in a session and with a log of its own (`launch`).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from omkl.errors import OmklError
from omkl.run.slurm_queue import send
from omkl.run.submitted_jobs import write

_OPTIONS, _LOG = "options.json", "jobs.log"  # in the folder of the submission


def launch(options: dict[str, Any], folder: Path, count: int) -> list[str]:
    """Start the jobs of a submission's chunks and return their ids; they outlive this process.

    options: of conf/exec/slurm.yaml. Raises OmklError where they cannot be started.
    """
    write(folder / _OPTIONS, {"options": options, "count": count})
    command = [sys.executable, "-m", "omkl.run.local_jobs", str(folder)]
    with open(folder / _LOG, "ab") as log:
        null = subprocess.DEVNULL
        done = subprocess.run(
            command, stdin=null, stdout=log, stderr=log, start_new_session=True, check=False
        )
    if done.returncode:
        last = (folder / _LOG).read_text(errors="replace").strip().rpartition("\n")[2][:500]
        raise OmklError(last or f"exec=slurm: no jobs were started; see {folder / _LOG}")
    return json.loads((folder / "jobs.json").read_text())["jobs"]


def main(folder: Path) -> int:
    """Start the jobs of a submission as they are described in its folder; return an exit code."""
    submission = json.loads((folder / _OPTIONS).read_text())
    try:
        send(submission["options"], folder, submission["count"])
    except OmklError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
