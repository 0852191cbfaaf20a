"""Every model comes back from its file as it was: to the bit, and with all that it could do."""

import io
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import ulmus
from persistence.cases import CASES, NAMES, X, Y
from persistence.sameness import assert_same
from ulmus import ELMClassifier, RandomFeatures, load, save
from ulmus.persistence import skops_types

OUTPUTS = ("predict", "predict_proba", "decision_function", "transform")
FOUND = ("transduction_", "label_distributions_", "labels_", "embedding_")


@pytest.fixture(scope="module")
def fitted():
    """Every case, fitted when it is first asked for."""
    models = {}

    def get(name):
        if name not in models:
            model, rows, y = CASES[name]
            models[name] = model if rows is None else clone(model).fit(rows, y)
        return models[name]

    return get


def assert_answers(model, same, rows):
    for name in OUTPUTS:
        if hasattr(model, name):
            assert_same(getattr(model, name)(rows), getattr(same, name)(rows), name)
    for name in FOUND:
        if hasattr(model, name):
            assert_same(getattr(model, name), getattr(same, name), name)


def back(model, path, **options):
    save(model, path, **options)
    return load(path)


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path, monkeypatch):
    """A pipeline with a memory writes where the process is."""
    monkeypatch.chdir(tmp_path)


def test_every_public_class_has_a_case():
    public = {name for name in ulmus.__all__ if name[0].isupper()}
    inside = {type(model).__name__ for model, _, _ in CASES.values()}
    given = (model.get_params(deep=False) for model, _, _ in CASES.values())
    inside |= {type(value).__name__ for each in given for value in each.values()}
    assert public <= inside


@pytest.mark.parametrize("name", CASES)
def test_fitted_models_come_back(name, fitted, tmp_path):
    model, rows = fitted(name), CASES[name][1]
    same = back(model, tmp_path / "model.ulmus")
    assert_same(model, same)
    if rows is not None:
        assert_answers(model, same, rows)


@pytest.mark.parametrize("name", CASES)
def test_unfitted_models_come_back(name, tmp_path):
    model = CASES[name][0]
    same = back(model, tmp_path / "model.ulmus")
    assert_same(model, same)
    assert_same(clone(model), clone(same))


@pytest.mark.parametrize("name", CASES)
def test_pickle_and_joblib_work_too(name, fitted):
    model, rows = fitted(name), CASES[name][1]
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    for same in (pickle.loads(pickle.dumps(model)), joblib.load(stream)):
        assert_same(model, same)
        if rows is not None:
            assert_answers(model, same, rows)


# What a user put in, and skops asks about: a kernel, and a choice of columns.
GIVEN = {
    "sklearn.metrics.pairwise.chi2_kernel",
    "sklearn.compose._column_transformer.make_column_selector",
}


@pytest.mark.parametrize("name", CASES)
def test_skops_opens_every_model_with_the_published_types(name, fitted):
    import skops.io as skops  # which imports all of scikit-learn

    model, rows = fitted(name), CASES[name][1]
    content = skops.dumps(model)
    own = skops_types()
    given = GIVEN & set(skops.get_untrusted_types(data=content))
    same = skops.loads(content, trusted=[*own, *given])
    if rows is not None:
        assert_answers(model, same, rows)


def test_published_types_are_ours_or_plain_data():
    foreign = [name for name in skops_types() if not name.startswith("ulmus.")]
    assert sorted(name.split(".")[-1] for name in foreign) == ["csr_array", "csr_matrix", "dtype"]


@pytest.mark.parametrize("name", ["elm", "elm, rbf", "elm, float32", "regressor", "GELM"])
def test_a_loaded_model_goes_on_learning(name, fitted, tmp_path):
    _, rows, y = CASES[name]
    model = pickle.loads(pickle.dumps(fitted(name)))
    same = back(model, tmp_path / "model.ulmus")
    for part, options in ((slice(0, 9), {}), (slice(5, 40), {"decay": 0.9}), (slice(0, 5), {})):
        for one in (model, same):
            one.partial_fit(rows[part], y[part], **options)
        assert_answers(model, same, rows)
    for one in (model, same):
        one.partial_fit(rows[:5], y[:5], forget=True)
    assert_same(model, same)


def test_a_loaded_model_goes_on_summing(tmp_path, monkeypatch):
    monkeypatch.setattr(ulmus.reservoir, "_LEAST", 20)
    for rows in (X, sp.csr_array(X)):
        model = ELMClassifier(n_hidden=10, random_state=0).fit(rows[::2], Y[::2])
        same = back(model, tmp_path / "model.ulmus")
        for part, options in ((slice(1, 40), {"decay": 0.9}), (slice(1, 20), {"forget": True})):
            for one in (model, same):
                one.partial_fit(rows[part], Y[part], **options)
            assert_same(model, same)


@pytest.mark.parametrize("name", ["SS-ELM", "SS-ELM, cg", "SS-ELM, affinity"])
def test_a_loaded_model_can_be_relabelled(name, fitted, tmp_path):
    model = fitted(name)
    same = back(model, tmp_path / "model.ulmus")
    other = np.where(np.arange(len(Y)) % 4, -1, Y)
    assert_answers(model.relabel(other), same.relabel(other), X)


def test_a_loaded_model_can_be_fitted_again(fitted, tmp_path):
    same = back(fitted("hinge"), tmp_path / "model.ulmus").set_params(warm_start=True)
    same.fit(X, NAMES)
    # The seed's state was stored as well, so the next fit draws what it would have drawn.
    model = CASES["elm, random state"][0]
    same = back(model, tmp_path / "model.ulmus")
    assert_same(clone(model).fit(X, Y).beta_, same.fit(X, Y).beta_)


@pytest.mark.parametrize("name", ["elm", "elm, more units than rows", "SS-ELM", "SS-ELM values"])
def test_what_no_prediction_needs_may_be_left_out(name, fitted, tmp_path):
    model, rows, y = fitted(name), *CASES[name][1:]
    save(model, tmp_path / "whole")
    same = back(model, tmp_path / "part", for_update=False)
    assert (tmp_path / "part").stat().st_size < (tmp_path / "whole").stat().st_size
    for output in OUTPUTS:
        if hasattr(model, output):
            assert_same(getattr(model, output)(rows), getattr(same, output)(rows), output)
    with pytest.raises(ValueError, match="for_update"):
        same.partial_fit(rows, y) if hasattr(same, "partial_fit") else same.relabel(y)


def test_one_array_is_stored_once(fitted, tmp_path):
    same = back(fitted("k-means"), tmp_path / "model.ulmus")
    assert same.cluster_centers_ is same.kmeans_.cluster_centers_
    drawn = back(
        ELMClassifier(RandomFeatures(random_state=(state := np.random.RandomState(0)))).set_params(
            random_state=state
        ),
        tmp_path / "model.ulmus",
    )
    assert drawn.random_state is drawn.features.random_state


def test_a_file_is_no_larger_than_its_arrays_and_a_tenth(tmp_path):
    wide = np.random.default_rng(0).standard_normal((1100, 30))
    model = ELMClassifier(n_hidden=600, C=1.0, random_state=0).fit(wide, np.arange(1100) % 10)
    save(model, tmp_path / "model.ulmus")
    moments, units = model._moments, model.features_
    arrays = [model.beta_, moments.gram, moments.cross, units.weights_, units.biases_]
    arrays.append(model._kept.X)
    assert (tmp_path / "model.ulmus").stat().st_size < 1.1 * sum(a.nbytes for a in arrays)
    # Half of a symmetric matrix is enough.
    assert (tmp_path / "model.ulmus").stat().st_size < 0.8 * moments.gram.nbytes + arrays[-1].nbytes
    same = load(tmp_path / "model.ulmus")
    assert_same(model, same)
    assert same._moments.gram.flags.f_contiguous == moments.gram.flags.f_contiguous


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    for name in ("one", "two"):
        save(fitted("columns"), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
