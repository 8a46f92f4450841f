"""dask: the connection to a scheduler, with certificates, without an answer, at a wrong address."""

import os
import shutil
import socket
import subprocess
import sys

import pytest
from support.dask_cluster import Cluster
from support.runner_fakes import act
from support.runner_plans import write_data

from omkl import config, executors
from omkl.errors import OmklError, UserError

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Two authorities, and a certificate of each: paths of "ca.pem", "node.pem" and "node.key" by folder."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(words: str) -> None:
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)

    new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    for name in ("ours", "theirs"):
        (folder / name).mkdir()
        ca, node = f"{name}/ca", f"{name}/node"
        openssl(f"req -x509 {new} -subj /CN=ca -days 2 -keyout {ca}.key -out {ca}.pem")
        openssl(f"req {new} -subj /CN=node -keyout {node}.key -out {node}.csr")
        signed = f"-CA {ca}.pem -CAkey {ca}.key -CAcreateserial -days 2"
        openssl(f"x509 -req -in {node}.csr {signed} -out {node}.pem")
    return folder


@pytest.mark.slow
def test_tls_with_certificates_of_one_authority(certificates, tmp_path):
    def files(authority: str, client: str, key: str) -> dict[str, str]:
        paths = (f"{authority}/ca.pem", f"{client}/node.pem", f"{key}/node.key")
        names = ("ca-file", "client.cert", "client.key")
        return {
            f"distributed.comm.tls.{name}": str(certificates / path)
            for name, path in zip(names, paths, strict=True)
        }

    ours = files("ours", "ours", "ours")
    flags = [
        word
        for flag, path in zip(("ca-file", "cert", "key"), ours.values(), strict=True)
        for word in (f"--tls-{flag}", path)
    ]
    with Cluster(tmp_path, *flags, protocol="tls") as cluster:
        assert cluster.address.startswith("tls://")
        cluster.add_worker()
        plan = config.plan(["exec=dask", f"exec.address={cluster.address}"])
        with dask.config.set(ours):
            assert list(executors.make_executor(plan.exec).run(act, [("value", 7)])) == [(("value", 7), 7)]

        def refused(error: type[Exception], text: str, tls: dict[str, str]) -> None:
            with dask.config.set(tls), pytest.raises(error, match=text):
                list(executors.make_executor(cluster.options(wait=20.0)).run(act, [("value", 1)]))

        of = "distributed.comm.tls"
        refused(
            UserError, rf"TLS needs {of}\.ca-file and {of}\.client\.cert and {of}\.client\.key in dask", {}
        )
        refused(UserError, "No such file", {**ours, f"{of}.client.key": "nowhere"})
        refused(UserError, "KEY_VALUES_MISMATCH", files("ours", "ours", "theirs"))
        refused(OmklError, "CERTIFICATE_VERIFY_FAILED", files("theirs", "ours", "ours"))
        refused(OmklError, r"no dask scheduler answers", files("ours", "theirs", "theirs"))


CONNECT = """
import sys
from omkl.cli import main
for address in sys.argv[1].split():
    words = ["algo=arow", sys.argv[2], "exec=dask", "exec.wait=0.5", f"exec.address={address}"]
    print(main(["run", *words]))
"""


@pytest.mark.slow
def test_a_failure_to_connect_is_one_line(certificates, tmp_path):
    """In a process of its own: what is printed as it ends counts too."""
    names = {"CA_FILE": "ca.pem", "CLIENT__CERT": "node.pem", "CLIENT__KEY": "node.key"}
    tls = {f"DASK_DISTRIBUTED__COMM__TLS__{n}": str(certificates / "ours" / f) for n, f in names.items()}
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))  # without listen(), it refuses
        ports = {server: server.getsockname()[1] for server in (silent, closed)}
        addresses = [f"tcp://127.0.0.1:{ports[closed]}", f"tcp://127.0.0.1:{ports[silent]}"]
        addresses.append(f"tls://127.0.0.1:{ports[closed]}")
        data = f"data={write_data(tmp_path / 'mine.libsvm', 40)}"
        command = [sys.executable, "-c", CONNECT, " ".join(addresses), data]
        options = {"capture_output": True, "text": True, "timeout": 240, "check": False}
        done = subprocess.run(command, cwd=tmp_path, env=os.environ | tls, **options)
    assert (done.returncode, done.stdout) == (0, "1\n1\n1\n")
    lines = done.stderr.splitlines()
    assert len(lines) == 3, done.stderr
    for line, address in zip(lines, addresses, strict=True):
        assert f"exec.address={address}: no dask scheduler answers within 0.5 s" in line


def test_mistakes_with_addresses_end_with_one_line(monkeypatch):
    options = {"name": "dask", "address": "tcp://127.0.0.1:9", "jobs": None, "wait": 0.3}
    with pytest.raises(OmklError, match=r"exec\.address=tcp://127\.0\.0\.1:9: no dask scheduler answers"):
        list(executors.make_executor(options).run(act, [("value", 1)]))
    with pytest.raises(UserError, match=r"exec\.address=nonsense: not an address"):
        list(executors.make_executor(options | {"address": "nonsense"}).run(act, [("value", 1)]))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'omkl\[dask\]'"):
        executors.make_executor(options)
