"""MLflow: a run of the experiment "fedmf", in a folder of this machine or at a tracking server.

    mlflow ui --backend-store-uri sqlite:///FOLDER/mlflow.db

A place with :// in it is MLflow's own address of a store, anything else a folder. MLflow tells its
makers how it is used unless told not to; here it is told not to.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedmf.tracking.base import Tracker, package

EXPERIMENT = "fedmf"
EVERY = 1.0  # seconds between two writes: each is a transaction
MOST = 900  # figures in one write; MLflow takes 1000
STATUS = "fedmf.status"


class MLflow(Tracker):
    """Writes to an MLflow store."""

    name = "mlflow"

    def _open(self, where: str) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        tracking = package("mlflow.tracking", self.name)
        self._entities = package("mlflow.entities", self.name)
        logging.getLogger("mlflow").setLevel(logging.WARNING)  # not how it makes its tables
        self._artifacts = None
        if "://" not in where:
            package("alembic", self.name), package("sqlalchemy", self.name)
            folder = Path(where).expanduser().resolve()
            folder.mkdir(parents=True, exist_ok=True)
            where, self._artifacts = f"sqlite:///{folder}/mlflow.db", (folder / "files").as_uri()
        self._where, self._client_type = where, tracking.MlflowClient
        self._waiting: list[Any] = []
        self._written = time.monotonic()

    def _begin(self, name: str, settings: Mapping[str, str]) -> None:
        with warnings.catch_warnings():  # of what MLflow itself uses
            warnings.simplefilter("ignore")
            self._client = self._client_type(tracking_uri=self._where)
            known = self._client.get_experiment_by_name(EXPERIMENT)
            experiment = known.experiment_id if known else self._client.create_experiment(
                EXPERIMENT, artifact_location=self._artifacts)  # fmt: skip
            self._run = self._client.create_run(experiment, run_name=name).info.run_id
            params = [self._entities.Param(key, value) for key, value in settings.items()]
            self._client.log_batch(self._run, params=params[:100])

    def _log(self, number: int, figures: Mapping[str, float]) -> None:
        now = int(time.time() * 1000)
        self._waiting += [self._entities.Metric(name, value, now, number)
                          for name, value in figures.items()]  # fmt: skip
        if len(self._waiting) > MOST - 50 or time.monotonic() - self._written >= EVERY:
            self._write()

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._client.log_batch(self._run, metrics=waiting)
        self._written = time.monotonic()

    def _end(self, status: str, well: bool) -> None:
        self._write()
        self._client.set_tag(self._run, STATUS, status)
        self._client.set_terminated(self._run, "FINISHED" if well else "FAILED")
