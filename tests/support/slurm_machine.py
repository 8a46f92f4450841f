"""A Slurm of one machine in a folder of its own: munged, slurmctld, slurmd on 127.0.0.1: docs/clusters.md."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
PATH = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin{os.pathsep}/sbin"

CONFIGURATION = """\
ClusterName=omkl
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
MinJobAge=30
SchedulerParameters=sched_interval=5,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def lacking() -> list[str]:
    """The programs that are not installed."""
    return [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]


def wait_until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a condition; seconds: far more than it takes."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


class Slurm:
    """The three daemons; ``environment`` is what makes Slurm's commands talk to them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.daemons = folder, {}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_"))}
        self.environment |= {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}
        for name in ("state", "spool"):
            (folder / name).mkdir()
        folder.chmod(0o755)  # munged refuses a socket that others cannot reach
        host = socket.gethostname().partition(".")[0]
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            ports = one.getsockname()[1], two.getsockname()[1]
        text = CONFIGURATION.format(host=host, user=getpass.getuser(), folder=folder, ports=ports)
        (folder / "slurm.conf").write_text(text)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o400)

    def start(self) -> None:
        """Start all three and wait until jobs could run."""
        own = {"key": "key", "socket": "socket", "pid": "pid", "log": "log", "seed": "seed"}
        names = {f"--{'socket' if k == 'socket' else f'{k}-file'}": f"munge.{v}" for k, v in own.items()}
        self._start("munged", "--foreground", *(f"{k}={self.folder / v}" for k, v in names.items()))
        wait_until((self.folder / "munge.socket").exists, 60, self.logs())
        self.start_controller()
        self._start("slurmd", "-D", "-f", self.environment["SLURM_CONF"])
        wait_until(lambda: "idle" in self.call("sinfo", "--noheader", "--format=%T"), 120, "no node is idle")

    def start_controller(self) -> None:
        """Start slurmctld, which goes on from its saved state, and wait until it answers."""
        self._start("slurmctld", "-D", "-f", self.environment["SLURM_CONF"])
        wait_until(lambda: "is UP" in self.call("scontrol", "ping"), 120, "slurmctld does not answer")

    def kill_controller(self) -> None:
        """Kill slurmctld, without a chance to save anything more."""
        daemon = self.daemons.pop("slurmctld")
        daemon.kill()
        daemon.wait()

    def call(self, *command: str) -> str:
        """Return what a command of Slurm's prints."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        return done.stdout + done.stderr

    def logs(self) -> str:
        """What the daemons wrote last."""
        return "\n".join(f"{path}:\n{path.read_text()[-3000:]}" for path in self.folder.glob("*.log"))

    def end(self) -> None:
        """End the jobs and the daemons, and whatever they started."""
        if "slurmctld" in self.daemons:
            self.call("scancel", "--user", getpass.getuser())
            with contextlib.suppress(AssertionError):
                wait_until(lambda: not self.call("squeue", "--noheader").strip(), 30, "")
        for name in ("slurmctld", "slurmd", "munged"):
            if name in self.daemons:
                self.daemons[name].terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for pid in self._steps():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _steps(self) -> list[int]:
        """The processes that carry this Slurm's configuration in their environment, jobs above all."""
        mark = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    def _start(self, *command: str) -> None:
        with open(self.folder / f"{command[0]}.out.log", "ab") as log:
            self.daemons[command[0]] = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
