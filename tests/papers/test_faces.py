"""The MELM paper: the protocols' numbers, what is drawn, and every classifier."""

import numpy as np
import pytest

from papers import faces
from papers.printed_manifold import PrintedManifoldELM
from papers.protocol import Case, cases, load

NAMES = [f"4-figure-{n}" for n in range(2, 7)] + [f"4-table-{n}" for n in (2, 3, 4)]


# Typed from the page, not from the files.
@pytest.mark.parametrize(
    ("table", "row", "method", "stated"),
    [
        (2, "Yale B", "GELM", {"seconds": 34.2682}),
        (2, "ORL", "RAF-ELM", {"seconds": 0.4563}),
        (3, "UMIST", "MELM", {"best": 98.75, "accuracy": 83.40}),
        (3, "MNIST", "DBN", {"best": 90.60, "accuracy": 81.32}),
        (3, "ORL", "CNN", {"best": 25.00, "accuracy": 11.30}),
        (4, "Yale", "λ = 0.4", {"accuracy": 76.67}),
        (4, "UMIST", "λ = 0", {"accuracy": 92.78}),
    ],
)
def test_cells_are_the_papers(table, row, method, stated):
    (paper,) = (r.paper for r in load(f"4-table-{table}").rows if r.name == row)
    assert paper[method] == stated


def test_shares_of_table_4_are_of_so_many_images():
    images = {"Yale": 150, "ORL": 400, "Yale B": 1900, "UMIST": 360}
    for row in load("4-table-4").rows:
        shares = np.array([cell["accuracy"] for cell in row.paper.values()])
        whole = np.round(shares * images[row.name] / 100)
        assert len(shares) == 10
        np.testing.assert_allclose(100 * whole / images[row.name], shares, atol=0.00501)


def test_lambda_is_the_best_of_table_4():
    best = {
        row.name: float(max(row.paper, key=lambda m: row.paper[m]["accuracy"])[4:])
        for row in load("4-table-4").rows
    }
    for name in NAMES[:-1]:
        for row in load(name).rows:
            if row.name in best:
                assert row.settings["lam"] == best[row.name], name


@pytest.mark.parametrize("name", NAMES)
def test_every_case_names_what_its_classifier_needs(name):
    for case in cases(load(name)):
        s = case.settings | ({case.settings["varied"]: case.x} if case.x is not None else {})
        assert {"images", *s["given"]} <= s.keys()
        model = faces.classifier(s, units=10, seed=0)
        assert hasattr(model, "fit")
        if case.repetition == 1:
            break


def test_draws_take_as_many_of_every_class():
    y = np.repeat(np.arange(4), [6, 7, 8, 9])
    seen = set()
    for repetition in range(3):
        train, test = faces.draw(y, 5, repetition)
        assert np.bincount(y[train]).tolist() == [5, 5, 5, 5]
        assert sorted(np.concatenate([train, test])) == list(range(30))
        seen.add(tuple(train))
    assert len(seen) == 3


def case(classifier, x=None, **settings):
    stated = {"images": 12, "units": 60, "given": [], "classifier": classifier} | settings
    return Case("t", "papers.faces", "r", "wine", "m", x, 0, 0, stated)


@pytest.mark.parametrize("classifier", ["ELM", "RAF-ELM", "GELM", "MELM"])
def test_every_classifier_knows_the_wines(classifier):
    found = case(classifier).run()
    assert found["accuracy"] > 90
    assert found["seconds"] > 0


def test_given_parameters_reach_the_classifier():
    s = {"classifier": "MELM", "given": ["C", "form"], "C": 0.5, "form": "bounded", "lam": 0.9}
    model = faces.classifier(s, units=7, seed=3)
    assert (model.C, model.form, model.n_hidden, model.random_state) == (0.5, "bounded", 7, 3)
    assert model.lam == 0.5, "what is not given stays as it is"


def test_the_printed_form_is_a_classifier_of_its_own():
    s = {"classifier": "MELM", "given": ["C", "form", "scatter"], "C": 0.5, "form": "printed"}
    model = faces.classifier(s | {"scatter": "input"}, units=7, seed=3)
    assert (type(model), model.C, model.scatter) == (PrintedManifoldELM, 0.5, "input")


def test_the_axis_replaces_a_setting(monkeypatch):
    seen = []
    real = faces.draw
    monkeypatch.setattr(
        faces, "draw", lambda y, n, *rest: seen.append((n, *rest)) or real(y, n, *rest)
    )
    case("ELM", x=20.0, varied="images").run()
    assert seen == [(20, 0, 0)]


def test_one_component_tells_less_than_all_columns():
    # Unscaled, the first component of wine is little but proline.
    found = case("ELM", x=1.0, varied="components").run()
    assert 50 < found["accuracy"] < 85


def test_images_are_judged_on_those_not_seen():
    s = {"images": 5, "classifier": "GELM", "given": [], "units": 300}
    found = Case("t", "papers.faces", "r", "digits", "m", None, 1, 0, s).run()
    assert 70 < found["accuracy"] < 90
