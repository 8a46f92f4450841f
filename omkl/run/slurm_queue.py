"""The queue of a cluster, through submitit."""

import subprocess
from pathlib import Path
from typing import Any

from omkl.errors import OmklError, UserError
from omkl.run.slurm_job import run_chunk
from omkl.run.submitted_jobs import write


def submitit() -> Any:
    """Return the package submitit. Raises UserError where it is not installed."""
    try:
        import submitit as package
    except ImportError:
        raise UserError("exec=slurm needs the package submitit: pip install 'omkl[slurm]'") from None
    return package


def send(options: dict[str, Any], folder: Path, count: int) -> list[str]:
    """Queue the chunks of a submission, in arrays; record and return their job ids.

    options: of conf/exec/slurm.yaml. Raises OmklError when the cluster refuses.
    """
    jobs: list[str] = []
    try:
        executor = submitit().AutoExecutor(folder=folder, cluster=options["cluster"])
        executor.update_parameters(**parameters(options))
        paths = [str(folder / f"{number}.json") for number in range(count)]
        for start in range(0, count, options["array"]):
            sent = executor.map_array(run_chunk, paths[start : start + options["array"]])
            jobs += [job.job_id for job in sent]
            write(folder / "jobs.json", {"cluster": options["cluster"], "jobs": jobs})
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as error:
        text = " ".join(str(error).split())[:500]
        queued = f"; {len(jobs)} of {count} jobs are queued" if jobs else ""
        raise OmklError(f"exec=slurm: cannot submit: {text}{queued}") from error
    return jobs


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of conf/exec/slurm.yaml as submitit's parameters.

    Raises UserError for an ``extra`` that is not NAME=VALUE.
    """
    extra = {}
    for word in options["extra"]:
        name, _, value = word.partition("=")
        if not name or not value:
            raise UserError(f"exec.extra: {word!r} is not an option of sbatch written as name=value")
        extra[name] = value
    names = {"partition": "partition", "account": "account", "qos": "qos", "parallel": "array_parallelism"}
    slurm = {theirs: options[name] for name, theirs in names.items()} | {"additional_parameters": extra}
    return {
        "name": "omkl",
        "timeout_min": options["time"],
        "mem_gb": options["mem"],
        "cpus_per_task": options["cpus"],
        f"{options['cluster']}_setup": options["setup"],
        **{f"slurm_{name}": value for name, value in slurm.items() if value not in (None, {})},
    }
