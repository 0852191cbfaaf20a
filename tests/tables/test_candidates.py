"""Which model is chosen, by the rows that are left out."""

import numpy as np

from ulmus.tables.candidates import Settings, choose


def test_steps_are_taken_where_they_help():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 100, (600, 3)).astype(np.float32)
    jumps = 3.0 * (x[:, 0] > 20) + 2.0 * (x[:, 1] > 50) - 4.0 * (x[:, 2] > 80)
    chosen = choose(x, jumps, Settings(classify=False))
    assert chosen.view.steps
    straight = x @ [1.0, 2.0, -1.0]
    chosen = choose(x, straight, Settings(classify=False))
    assert not chosen.view.steps
