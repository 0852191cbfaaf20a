"""No bad input gives a wrong answer, a raw error or a changed model.

A seeded part of what ``make attack`` tries, and each kind of defect that it has found.
"""

import numpy as np
import pytest

from attack.inputs import cases, run
from attack.outcomes import BAD

# Cases of each subject in the gate; `make attack` has them all.
_SAMPLE = 35

# One case of every kind that once ended badly, and how.
FOUND = [
    # NumPy's words in place of ours
    ("ELMClassifier", "fit shape: ragged"),
    ("ELMRegressor", "fit type: NA among objects"),
    ("KernelELMClassifier", "answer type: a list among objects"),
    ("SparseELMClassifier rbf", "fit type: a dict among objects"),
    ("ELMKMeans", "fit type: frame with text"),
    ("ELMNMF", "fit type: frame of categories"),
    ("ManifoldELMClassifier", "fit type: moments"),
    ("RandomFeatures", "answer type: spans"),
    ("RBFFeatures", "answer value: times 1e300"),
    ("KernelELMClassifier poly", "answer value: 1e300 once"),
    ("ELMEmbedding free", "fit value: largest float once"),
    ("KNNGraph", "fit shape: ragged"),
    ("KNNGraph", "fit value: times 1e155"),
    ("KNNGraph", "answer sparse: entry of 1e300"),
    ("ELMClassifier", "target: lists"),
    ("KernelELMClassifier", "target: dicts"),
    ("ELMRegressor", "target: sparse column"),
    ("SemiSupervisedELMRegressor", "target: complex"),
    ("ELMRegressor", "target: text (values)"),
    ("ELMClassifier", "weight: a dict"),
    ("ELMRegressor", "call: batch of words"),
    ("ELMSpectralClustering", "graph: complex"),
    ("laplacian", "graph: a word"),
    ("affinity_of", "graph: not square"),
    ("affinity_of", "graph: infinite"),
    *(
        (name, f"argument: {argument} = {value}")
        for name, argument, value in [
            ("ELMClassifier", "C", "list of words"),
            ("ELMClassifier", "C", "denormal"),
            ("ELMClassifier", "dtype", "float16"),
            ("ELMRegressor", "dtype", "longdouble"),
            ("KernelELMRegressor", "dtype", "integer type"),
            ("ELMEmbedding", "dtype", "complex type"),
            ("RandomFeatures", "dtype", "word"),
            ("ELMClassifier", "n_hidden", "True"),
            ("RandomFeatures", "n_hidden", "10**30"),
            ("SparseELMClassifier", "random_state", "-1"),
            ("KernelFeatures", "random_state", "word"),
            ("SemiSupervisedELMClassifier", "lam", "object"),
            ("ELMClassifier", "class_weight", "matrix"),
            ("ELMSpectralClustering", "n_init", "0"),
            ("ELMSpectralClustering", "n_components", "word"),
            ("ELMNMF", "init", "word"),
            ("ELMNMF", "tol", "NaN"),
            ("SparseELMClassifier", "max_iter", "10**30"),
            ("RandomFeatures", "activation", "dict"),
            ("KernelELMClassifier", "kernel", "function"),
            ("KNNGraph", "width", "NaN"),
            ("KNNGraph", "width", "0"),
            ("KNNGraph", "width", "-1"),
            ("KNNGraph", "metric", "word"),
            ("SemiSupervisedELMRegressor", "graph", "float16"),
            ("ELMEmbedding", "graph", "float16"),
            ("KernelFeatures", "gamma", "10**30"),
            ("RBFFeatures", "width", "denormal"),
        ]
    ),
    # a wrong answer, or one to what means nothing
    ("ELMClassifier", "fit type: masked"),
    ("KernelELMRegressor", "answer type: masked"),
    ("ELMRegressor", "target: numbers as text (values)"),
    ("KernelELMRegressor", "target: moments (values)"),
    ("ELMClassifier", "weight: moments"),
    ("ELMEmbedding free", "fit sparse: entries in two parts"),
    ("KNNGraph", "fit sparse: entries in two parts"),
    ("KernelELMRegressor laplacian", "fit sparse: long indices"),
    ("ELMKMeans", "call: names before fit"),
    # a process that died, or read foreign memory
    ("ELMClassifier", "fit sparse: index far past the end"),
    ("KernelELMClassifier", "answer sparse: negative index"),
    ("RBFFeatures", "fit sparse: pointers past the end"),
    ("KNNGraph", "answer sparse: pointers that fall"),
    ("SemiSupervisedELMClassifier", "graph: index past the end"),
    ("ELMEmbedding", "graph: negative index"),
    # a model that a failed fit had changed
    ("RandomFeatures", "fit type: frame with moments"),
    ("KernelFeatures", "argument: kernel = function"),
    ("SemiSupervisedELMClassifier", "call: relabel with nothing"),
]


@pytest.mark.parametrize(("name", "what"), FOUND, ids=lambda part: part)
def test_what_was_found_once_is_not_found_again(name, what):
    result = run(name, what)
    assert result.outcome not in BAD, result.detail


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in cases()))
def test_no_case_of_a_sample_ends_badly(name):
    own = [what for other, what in cases() if other == name]
    sample = np.random.default_rng(0).permutation(len(own))[:_SAMPLE]
    results = [run(name, own[place]) for place in sample]
    assert [result.detail for result in results if result.outcome in BAD] == []
