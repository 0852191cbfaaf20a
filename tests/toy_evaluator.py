"""An evaluator for the runner's tests; its cases say what should happen to them."""

import os
import signal
import socket

import numpy as np
from threadpoolctl import threadpool_info

from ulmus.exceptions import MissingExtraError

MEET_AT = 12  # the first repetition that comes to the meeting, where a test has called one


def run(case):
    trouble = case.settings.get("trouble")
    if trouble == "extra":
        raise MissingExtraError("pip install 'ulmus[toy]'.")
    if trouble == "bug":
        raise ZeroDivisionError("toy")
    if trouble == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if case.repetition >= MEET_AT and (port := os.environ.get("TOY_MEETING")):
        with socket.create_connection(("127.0.0.1", int(port))) as line:
            line.recv(1)  # which ends when the test closes the line
    rng = np.random.default_rng([case.seed, case.repetition])
    threads = max(info["num_threads"] for info in threadpool_info())
    rate = rng.normal(90.0 + case.settings.get("shift", 0.0))
    return {"rate": rate, "several": rng.normal(size=3), "threads": threads}
