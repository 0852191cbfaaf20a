"""An evaluator for the runner's tests; its cases say what should happen to them."""

import os
import signal
import time

import numpy as np
from threadpoolctl import threadpool_info

from ulmus.exceptions import MissingExtraError


def run(case):
    trouble = case.settings.get("trouble")
    if trouble == "extra":
        raise MissingExtraError("pip install 'ulmus[toy]'.")
    if trouble == "bug":
        raise ZeroDivisionError("toy")
    if trouble == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(case.settings.get("wait", 0.0))
    rng = np.random.default_rng([case.seed, case.repetition])
    threads = max(info["num_threads"] for info in threadpool_info())
    return {"rate": rng.normal(90.0), "several": rng.normal(size=3), "threads": threads}
