"""The exchange of FedMGS as NVFlare sees it: W goes out, K x K and M x K numbers come back.

Imported by the processes of `nvflare_rounds`, whose environment has NVFlare in it.
"""

import json
import time
from pathlib import Path

import numpy as np
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.executor import Executor
from nvflare.apis.impl.controller import Controller, Task


class Server(Controller):
    def __init__(self, sites, rounds, features, rank, check, out):
        super().__init__(task_check_period=check)
        self._task_check_period = check  # the loop reads this one
        self.sites, self.rounds, self.shape, self.out = sites, rounds, (features, rank), out

    def start_controller(self, fl_ctx):
        pass

    def stop_controller(self, fl_ctx):
        pass

    def process_result_of_unknown_task(self, *given):
        pass

    def control_flow(self, abort_signal, fl_ctx):
        W, seconds = np.random.default_rng(0).random(self.shape), []
        for _ in range(self.rounds):
            came = []

            def take(client_task, fl_ctx, came=came):
                came.append(from_shareable(client_task.result).data["V"])

            started = time.perf_counter()
            data = DXO(DataKind.WEIGHTS, data={"W": W}).to_shareable()
            task = Task(name="improve", data=data, result_received_cb=take)
            self.broadcast_and_wait(
                task, fl_ctx, min_responses=self.sites, wait_time_after_min_received=0,
                abort_signal=abort_signal,
            )  # fmt: skip
            if abort_signal.triggered:
                return
            W = sum(came) / len(came)
            seconds.append(time.perf_counter() - started)
        Path(self.out).write_text(json.dumps(seconds))


class Site(Executor):
    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        W = from_shareable(shareable).data["W"]
        return DXO(DataKind.WEIGHTS, data={"U": W.T @ W, "V": W + 1}).to_shareable()
