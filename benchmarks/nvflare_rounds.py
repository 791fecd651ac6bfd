"""How long a round takes with NVFlare, for the exchange that `federation` measures with ours.

python -m venv there && there/bin/pip install nvflare==2.9.0
python benchmarks/nvflare_rounds.py --python there/bin/python            3 sites with 1 MB arrays
python benchmarks/nvflare_rounds.py --python there/bin/python --kill     ... one of which is killed

Provisioned kits with mutual TLS, every site a process on loopback; once as NVFlare comes, once
with its waiting times set to 0.05 s. Nothing is computed, kept or checked at a site.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from measuring import report
from network.real import free_port, until

SUBMIT = """
import sys
from nvflare.fuel.flare_api.flare_api import new_secure_session
session = new_secure_session("admin@x.org", sys.argv[1], timeout=60.0)
try:
    print(session.monitor_job(session.submit_job(sys.argv[2]), timeout=400), flush=True)
finally:
    session.close()
"""
SETTINGS = {"as it comes": None, "tuned": 0.05}
MAIN = "nvflare.private.fed.app"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, required=True, help="of a venv with NVFlare")
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--features", type=int, default=6250)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kill", action="store_true", help="one site's process in a long job")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), given) as there:
        if given.kill:
            print(killed(there, given))
            return
        rows = [measured(there, given, name) for name in SETTINGS]
    report(f"NVFlare, {given.sites} sites, a round", rows, None)


def provision(folder: Path, given: argparse.Namespace) -> Path:
    """Make the kits; return their folder."""
    people = [{"name": "localhost", "type": "server", "org": "x", "fed_learn_port": free_port(),
               "admin_port": free_port(), "host_names": ["127.0.0.1"]}]  # fmt: skip
    people += [{"name": name, "type": "client", "org": "x"} for name in names(given)]
    people += [{"name": "admin@x.org", "type": "admin", "org": "x", "role": "project_admin"}]
    lighter = "nvflare.lighter.impl"
    builders = [
        {"path": f"{lighter}.workspace.WorkspaceBuilder",
         "args": {"template_file": ["master_template.yml"]}},
        {"path": f"{lighter}.static_file.StaticFileBuilder",
         "args": {"config_folder": "config", "scheme": "grpc"}},
        {"path": f"{lighter}.cert.CertBuilder"},
    ]  # fmt: skip
    project = {"api_version": 3, "name": "probe", "description": "", "participants": people,
               "builders": builders}  # fmt: skip
    (folder / "project.yml").write_text(json.dumps(project))  # JSON is YAML too
    words = [given.python.parent / "nvflare", "provision", "-p", "project.yml", "-w", "ws"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, env=environment(given))
    kits = folder / "ws" / "probe" / "prod_00"
    for name in ("localhost", *names(given)):
        local = kits / name / "local"
        text = (local / "resources.json.default").read_text()
        shared = f"{tempfile.gettempdir()}/nvflare"  # by default jobs are kept there
        table = json.loads(text.replace(shared, str(folder / "nvflare")))
        table["class_allow_list"] = ["nvflare.", "nvflare_probe."]
        (local / "resources.json").write_text(json.dumps(table))
    return kits


def names(given: argparse.Namespace) -> list[str]:
    return [f"site-{place}" for place in range(given.sites)]


def environment(given: argparse.Namespace) -> dict[str, str]:
    here, tools = str(Path(__file__).parent), str(given.python.parent.absolute())
    return {**os.environ, "PYTHONPATH": here, "PATH": f"{tools}:{os.environ['PATH']}"}


@contextmanager
def running(folder: Path, given: argparse.Namespace) -> Iterator[Path]:
    """Give the folder of kits whose server and sites run."""
    kits, started = provision(folder, given), []
    common = ["org=x", "config_folder=config", "secure_train=true"]
    jobs = [("localhost", f"{MAIN}.server.server_train", "fed_server.json", common)]
    jobs += [(name, f"{MAIN}.client.client_train", "fed_client.json", [*common, f"uid={name}"])
             for name in names(given)]  # fmt: skip
    try:
        for name, module, settings, words in jobs:
            command = [given.python.absolute(), "-m", module, "-m", kits / name, "-s", settings]
            with (kits / f"{name}.out").open("wb") as out:
                started.append(subprocess.Popen(
                    [*command, "--set", *words], stdout=out, stderr=out, cwd=kits,
                    env=environment(given), start_new_session=True,
                ))  # fmt: skip
        joined = kits / "localhost.out"
        until(lambda: joined.read_text().count("New client") >= given.sites, 60)
        yield kits
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)  # those of its job as well
            process.wait()


def job(kits: Path, given: argparse.Namespace, interval: float | None, rounds: int) -> Path:
    """Write a job; return its folder."""
    folder = kits / f"job-{interval}-{rounds}"
    config = folder / "app" / "config"
    config.mkdir(parents=True)
    meta = {"name": "probe", "min_clients": given.sites, "deploy_map": {"app": ["@ALL"]}}
    (folder / "meta.json").write_text(json.dumps(meta))
    settings = {
        "sites": given.sites, "rounds": rounds, "features": given.features, "rank": given.rank,
        "check": interval or 0.5, "out": str(folder / "seconds"),
    }  # fmt: skip
    server = {"format_version": 2, "components": [], "workflows": [
        {"id": "probe", "path": "nvflare_probe.Server", "args": settings}]}  # fmt: skip
    site = {"format_version": 2, "components": [], "executors": [
        {"tasks": ["*"], "executor": {"path": "nvflare_probe.Site", "args": {}}}]}  # fmt: skip
    if interval is not None:
        server["server"] = {"task_request_interval": interval}
        site["default_task_fetch_interval"] = interval
    (config / "config_fed_server.json").write_text(json.dumps(server))
    (config / "config_fed_client.json").write_text(json.dumps(site))
    return folder


def submitted(kits: Path, given: argparse.Namespace, folder: Path) -> subprocess.Popen[str]:
    """Hand in a job as the administrator."""
    words = [given.python.absolute(), "-c", SUBMIT, kits / "admin@x.org", folder]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment(given))


def measured(kits: Path, given: argparse.Namespace, name: str) -> dict[str, object]:
    """Return the seconds of a round."""
    folder = job(kits, given, SETTINGS[name], given.rounds)
    submitted(kits, given, folder).communicate(timeout=600)
    seconds = np.array(json.loads((folder / "seconds").read_text())[1:])
    return {"settings": name, "rounds": len(seconds), "median s": float(np.median(seconds)),
            "least s": float(seconds.min()), "most s": float(seconds.max())}  # fmt: skip


def killed(kits: Path, given: argparse.Namespace) -> str:
    """Kill one site's process of a job; say what became of the job."""
    folder = job(kits, given, SETTINGS["tuned"], 1000)
    waiting, log = submitted(kits, given, folder), kits / "localhost.out"
    until(lambda: processes(kits / "site-1"), 120)
    time.sleep(5)
    started = time.monotonic()
    for pid in processes(kits / "site-1"):
        os.kill(pid, signal.SIGKILL)
    waiting.communicate(timeout=400)
    aborted = "asked to abort" in log.read_text()
    whole = (folder / "seconds").exists()
    return (f"{time.monotonic() - started:.0f} s after the kill the job had ended, "
            f"{'aborted' if aborted else 'not aborted'}, "
            f"{'with' if whole else 'without'} its result")  # fmt: skip


def processes(kit: Path) -> list[int]:
    """Return the processes that do the work of a job at a site."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(word.endswith("worker_process") for word in words) and str(kit) in words:
            found.append(int(path.parent.name))
    return found


if __name__ == "__main__":
    main()
