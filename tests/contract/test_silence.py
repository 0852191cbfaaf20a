"""The library prints nothing; what it decides goes to the log named "ulmus"."""

import ast
import logging
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import ulmus

SRC = Path(__file__).parents[2] / "src" / "ulmus"
FILES = [path for path in sorted(SRC.rglob("*.py")) if path.relative_to(SRC).parts[0] != "cli"]
ESTIMATORS = [
    name
    for name in ulmus.__all__
    if isinstance(getattr(ulmus, name), type) and hasattr(getattr(ulmus, name), "fit")
]
X, y = make_classification(60, 5, random_state=0)


def printed(tree):
    """Lines that print, or write to standard output."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "print":
                yield node.lineno
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.stdout":
            yield node.lineno


def test_what_is_looked_for_is_found():
    assert list(printed(ast.parse("x = 1\nprint(x)\nsys.stdout.write('x')"))) == [2, 3]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_only_the_command_line_prints(path):
    assert list(printed(ast.parse(path.read_text()))) == []


def fitted(name):
    model = getattr(ulmus, name)()
    small = {"n_hidden": 20, "n_clusters": 2, "random_state": 0}
    model.set_params(**{key: small[key] for key in small if key in model.get_params()})
    return model.fit(X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_is_silent_by_default(name, capfd):
    fitted(name)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ELMClassifier", "solver: spectral (one eigendecomposition serves every C)"),
        ("ELMRegressor", "by leaving out each row once"),
        ("GraphELMClassifier", "lam: "),
        ("KernelELMClassifier", "rank: 60, the whole kernel"),
        ("ManifoldELMClassifier", "by cross-validation"),
        ("SemiSupervisedELMClassifier", "what the candidates give every row"),
        ("SparseELMClassifier", "C: 10, given"),
        ("ELMKMeans", "clusters: 2"),
    ],
)
def test_a_fit_says_what_it_chose_to_the_log(name, words, caplog):
    with caplog.at_level(logging.INFO, "ulmus"):
        fitted(name)
    (line,) = [record for record in caplog.records if words in record.getMessage()]
    assert line.levelno == logging.INFO
    assert line.name.startswith("ulmus.")
    assert line.getMessage().startswith(f"{name} fitted. ")


def test_approximations_are_logged(caplog, monkeypatch):
    monkeypatch.setattr("ulmus.graphs._PRODUCT_ROWS", 10)
    monkeypatch.setattr("ulmus.graphs._EXACT_ROWS", 10)
    with caplog.at_level(logging.INFO, "ulmus"):
        ulmus.KNNGraph().search(np.zeros((20, 2)))
    assert caplog.records[0].name == "ulmus.graphs"
    with caplog.at_level(logging.INFO, "ulmus"):
        monkeypatch.setattr("ulmus.methods.clusters.most_rows", lambda *_: 10)
        fitted("ELMKMeans")
    assert "Clusters are found on 10 of 60 rows, as many as fit." in caplog.text


def test_the_log_needs_no_handler():
    assert any(isinstance(h, logging.NullHandler) for h in logging.getLogger("ulmus").handlers)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ELMClassifier", "Fit: 60 of 60 rows"),
        ("GraphELMClassifier", "Fit: 60 of 60 rows"),
        ("SemiSupervisedELMClassifier", "Graph: 20 of 20 hidden units"),
        ("SemiSupervisedELMRegressor", "Graph: 20 of 20 hidden units"),
        ("KernelELMClassifier", "columns"),
        ("KernelELMRegressor", "columns"),
    ],
)
def test_verbose_says_how_far_a_fit_is(name, words, capsys):
    settings = {"rank": 20} if "Kernel" in name else {"n_hidden": 20}
    model = getattr(ulmus, name)(verbose=1, random_state=0, **settings)
    model.fit(X, y)
    printed = capsys.readouterr()
    assert any(words in line for line in printed.err.splitlines())
    assert printed.out == ""
