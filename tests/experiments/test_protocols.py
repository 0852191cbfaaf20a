"""The papers' protocols: what is drawn, scaled and counted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ulmus.experiments import faces, hidden_clusters


def test_draws_take_as_many_of_every_class():
    y = np.repeat(np.arange(4), [6, 7, 8, 9])
    seen = []
    for train, test in faces.draws(y, 5, count=3):
        assert np.bincount(y[train]).tolist() == [5, 5, 5, 5]
        assert sorted(np.concatenate([train, test])) == list(range(30))
        seen.append(tuple(train))
    assert len(set(seen)) == 3


def test_faces_are_judged_on_images_not_seen(benchmark_data):
    benchmark_data("yale")
    few = {"ELM": faces.METHODS["ELM"], "GELM": faces.METHODS["GELM"]}
    found = faces.evaluate(faces.PROBLEMS["Yale"], 5, few, count=2)
    assert all(50 < value < 100 for values in found.values() for value in values)
    assert len(found["ELM"]) == 2


def test_stories_are_weighted_as_the_paper_says(benchmark_data):
    benchmark = hidden_clusters.inputs("tdt2", 2)
    X = benchmark.positive
    assert_allclose(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1.0)
    assert X.shape[0] == len(benchmark.y) <= 200
    assert benchmark.hidden.shape[1] == 200


@pytest.mark.parametrize("methods", [hidden_clusters.KMEANS, hidden_clusters.NMF])
def test_every_clustering_is_scored(methods, benchmark_data):
    benchmark_data("synthetic_control")
    problem = hidden_clusters.PROBLEMS["Synthetic Control"]
    found = hidden_clusters.evaluate(problem, 2, methods, runs=1, nodes=50)
    for scores in found.values():
        assert scores.shape == (1, 2)
        assert 50 <= scores[0, 0] <= 100
        assert 0 <= scores[0, 1] <= 1


def test_the_papers_tables_are_whole():
    for problem in hidden_clusters.PROBLEMS.values():
        assert problem.kmeans.keys() == problem.nmf.keys()
        for row in (*problem.kmeans.values(), *problem.nmf.values()):
            assert len(row) == 6
            assert max(row[:3]) > 40
            assert max(row[3:]) <= 1
    assert {len(p.table4) for p in faces.PROBLEMS.values()} == {10}
