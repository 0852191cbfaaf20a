"""What ELMKMeans and ELMNMF promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

from papers.datasets import make_synthetic_control
from ulmus import ELMNMF, ELMKMeans, ELMSpectralClustering, RandomFeatures, RBFFeatures
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.methods.clusters import Means, factorisation, rank_reaches
from ulmus.metrics import clustering_accuracy

X, y = make_blobs(200, 5, centers=4, random_state=0)
BOTH = [ELMKMeans, ELMNMF]


@pytest.mark.parametrize("cls", BOTH)
def test_training_rows_are_predicted_as_they_are_labelled(cls):
    model = cls(4, random_state=0).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.fit_predict(X), model.labels_)
    assert_array_equal(model.predict(X[::2]), model.labels_[::2])
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert model.transform(X).shape == (200, 4 if cls is ELMKMeans else 8)
    assert_allclose(model.fit_transform(X), model.transform(X), rtol=1e-5, atol=1e-8)
    assert model.get_feature_names_out()[0].startswith(cls.__name__.lower())


def test_k_means_is_k_means_on_the_hidden_rows():
    features = RandomFeatures(30, random_state=0)
    model = ELMKMeans(4, features=features, random_state=0).fit(X)
    H = features.fit(X).transform(X)
    plain = KMeans(4, n_init=10, random_state=0).fit(H)
    assert clustering_accuracy(plain.labels_, model.labels_) == 1.0
    assert model.inertia_ == pytest.approx(plain.inertia_, rel=1e-6)
    centers = np.stack([H[model.labels_ == k].mean(axis=0) for k in range(4)])
    assert_allclose(model.cluster_centers_, centers, rtol=1e-8)
    distances = np.linalg.norm(H[:, None] - centers, axis=2)
    assert_allclose(model.transform(X), distances, rtol=1e-6, atol=1e-7)
    assert model.inertia_ == pytest.approx(np.sum(distances.min(axis=1) ** 2))


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_the_factorisation_is_of_the_hidden_rows(solver):
    features = RBFFeatures(30, random_state=0)
    model = ELMNMF(
        4, features=features, n_components=4, solver=solver, max_iter=2000, random_state=0
    ).fit(X)
    H = features.fit(X).transform(X)
    assert (model.components_ >= 0).all()
    B = model.transform(X)
    assert (B >= 0).all()
    assert np.linalg.norm(H - B @ model.components_) <= 1.01 * model.reconstruction_err_
    best = NMF(4, init="nndsvda", max_iter=2000).fit(H).reconstruction_err_
    assert model.reconstruction_err_ <= 1.2 * best
    # No row could have a better place: the gradient points out of the quadrant or is zero.
    gradient = (B @ model.components_ - H) @ model.components_.T
    scale = np.abs(H @ model.components_.T).max()
    if solver == "cd":
        assert gradient.min() > -1e-2 * scale
        assert np.abs(B * gradient).max() < 1e-2 * scale * B.max()


@pytest.mark.parametrize("compare", ["BW", "B"])
def test_nmf_groups_the_rows_of_the_factorisation_or_of_its_factor(compare):
    features = RBFFeatures(30, random_state=0)
    model = ELMNMF(4, features=features, compare=compare, random_state=0).fit(X)
    B, W = model.transform(X), model.components_
    assert W.shape == (8, 30)
    rows = B @ W if compare == "BW" else B
    seed = np.random.RandomState(0).randint(2**31 - 1)
    plain = KMeans(4, n_init=10, random_state=seed).fit(rows)
    assert_array_equal(plain.labels_, model.labels_)
    assert model.inertia_ == pytest.approx(plain.inertia_, rel=1e-4)
    places = model._found().coordinates(features.fit(X).transform(X))
    assert_allclose(pdist(places), pdist(rows), rtol=1e-4, atol=1e-5)
    centers = np.stack([places[model.labels_ == k].mean(axis=0) for k in range(4)])
    assert_allclose(model.cluster_centers_, centers, rtol=1e-4, atol=1e-5)


def test_nmf_has_as_many_components_as_it_is_given():
    model = ELMNMF(4, n_components=3, n_hidden=20, random_state=0).fit(X)
    assert model.components_.shape == (3, 20)
    assert model.transform(X).shape == (200, 3)
    assert model.get_feature_names_out().tolist() == ["elmnmf0", "elmnmf1", "elmnmf2"]
    assert set(model.labels_.tolist()) == set(range(4))
    assert_array_equal(model.predict(X), model.labels_)


def test_rows_without_enough_singular_vectors_start_at_random():
    h = np.zeros((50, 3))
    h[7, 1] = 1.0  # the start by singular vectors of such rows is NaN
    nmf = {"n_components": 3, "init": None}
    found = Means(2, 3, nmf).started(h, seed=1)
    assert np.isfinite(found.nmf.components_).all()
    assert_array_equal(found.kmeans.labels_ == found.kmeans.labels_[7], np.arange(50) == 7)
    assert factorisation(nmf, np.eye(5, 3), seed=0).init is None
    assert rank_reaches(np.eye(5, 4), 4, seed=0)
    assert not rank_reaches(np.eye(5, 4), 5, seed=0)
    assert not rank_reaches(np.ones((9, 4)), 2, seed=0)


def test_default_units_suit_each_of_them():
    few = X[:12]  # too few to be halved for a choice
    model = ELMKMeans(4, random_state=0).fit(few)
    assert isinstance(model.features_, RandomFeatures)
    assert model.features_.gain == pytest.approx(np.sqrt(5))
    model = ELMNMF(4, random_state=0).fit(few)
    assert isinstance(model.features_, RBFFeatures)
    wide = RBFFeatures(random_state=model.features_.random_state).fit(few)
    assert model.features_.width_ == pytest.approx(0.35 * wide.width_)
    assert ELMKMeans(4, n_hidden=7).fit(X).n_hidden_ == 7


@pytest.mark.parametrize("cls", BOTH)
def test_sparse_rows_and_float32(cls):
    features = RBFFeatures(40, random_state=0)
    dense = cls(4, features=features, random_state=0).fit(X)
    thin = cls(4, features=features, random_state=0).fit(sp.csr_array(X))
    assert clustering_accuracy(dense.labels_, thin.labels_) == 1.0
    assert_array_equal(thin.predict(sp.csr_array(X)), thin.labels_)
    narrow = cls(4, features=features, random_state=0).fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert clustering_accuracy(dense.labels_, narrow.labels_) > 0.98


@pytest.mark.parametrize("cls", [*BOTH, ELMSpectralClustering])
@pytest.mark.parametrize("dtypes", [("f4", "f8"), ("f8", "f4")])
def test_new_rows_may_be_in_another_precision(cls, dtypes):
    first, then = (X.astype(dtype) for dtype in dtypes)
    model = cls(4, n_hidden=40, random_state=0).fit(first)
    assert_array_equal(model.predict(then), model.labels_)
    if hasattr(model, "transform"):
        assert_allclose(model.transform(then), model.transform(first), rtol=0, atol=1e-3)


@pytest.mark.parametrize("cls", BOTH)
def test_rows_that_do_not_fit_are_clustered_by_a_sample(cls):
    many, classes = make_blobs(3000, 5, centers=4, random_state=1)
    with config_context(working_memory=0.2):  # of 50 units in float64, 524 rows
        model = cls(4, n_hidden=50, random_state=0).fit(many)
        assert len(model.labels_) == 3000
        assert_array_equal(model.predict(many), model.labels_)
    assert clustering_accuracy(classes, model.labels_) > 0.9
    inertia = model.inertia_
    assert inertia == pytest.approx(model._found().assigned(model._hidden(many))[1], rel=1e-4)


def test_negative_features_are_refused_by_name():
    with pytest.raises(InvalidInputError, match="RandomFeatures gave negative values.*'sigmoid'"):
        ELMNMF(3, features=RandomFeatures(20, activation="tanh")).fit(X)
    for features in (RandomFeatures(20), RandomFeatures(20, activation="relu"), RBFFeatures(20)):
        assert ELMNMF(3, features=features, random_state=0).fit(X).labels_.max() == 2


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("n_clusters", [0, 201, 2.5, "many"])
def test_more_clusters_than_rows(cls, n_clusters):
    with pytest.raises(InvalidParameterError, match="from 1 to the number of rows, 200"):
        cls(n_clusters).fit(X)


@pytest.mark.parametrize("cls", BOTH)
def test_as_many_clusters_as_rows_or_one(cls):
    model = cls(6, n_hidden=20, random_state=0).fit(X[:6])
    assert len(set(model.labels_.tolist())) >= (6 if cls is ELMKMeans else 4)
    assert set(cls(1, n_hidden=20, random_state=0).fit(X).labels_.tolist()) == {0}


@pytest.mark.parametrize("cls", BOTH)
def test_constant_features_leave_nothing_to_cluster(cls):
    with pytest.raises(InvalidInputError, match="all the same, and n_clusters=3"):
        cls(3, n_hidden=10, random_state=0).fit(np.full((20, 3), 7.0))
    for width in (10, None):
        one = cls(1, n_hidden=width).fit(np.full((20, 3), 7.0))
        assert set(one.labels_.tolist()) == {0}
        assert not hasattr(one, "candidates_")


@pytest.mark.parametrize("cls", BOTH)
def test_more_clusters_than_different_rows_are_refused(cls):
    rows = np.repeat(np.eye(4), 10, axis=0)
    with pytest.raises(InvalidInputError, match="4 different rows, and n_clusters=5"):
        cls(5, random_state=0).fit(rows)
    model = cls(4, random_state=0).fit(rows)
    assert adjusted_rand_score(np.repeat(range(4), 10), model.labels_) == 1.0


@pytest.mark.parametrize("cls", BOTH)
def test_blobs_that_are_more_than_the_clusters_stay_whole(cls):
    rows, blobs = make_blobs(120, centers=np.eye(4) * 99, cluster_std=0.5, random_state=0)
    labels = cls(2, random_state=0).fit(rows).labels_
    assert all(len(set(labels[blobs == each])) == 1 for each in range(4))
    assert len(set(labels)) == 2


@pytest.mark.parametrize("cls", BOTH)
def test_noise_alone_is_divided_and_the_candidates_say_how_little_is_stable(cls):
    rows = np.random.default_rng(0).uniform(size=(150, 6))
    model = cls(4, random_state=0).fit(rows)
    assert set(model.labels_.tolist()) == set(range(4))
    assert model.candidates_["stability"].max() < 0.5


def test_solvers_that_are_not_there():
    with pytest.raises(InvalidParameterError, match="use one of 'cd', 'mu'"):
        ELMNMF(solver="als").fit(X)
    with pytest.raises(InvalidParameterError, match="use one of 'BW', 'B'"):
        ELMNMF(compare="W").fit(X)
    with pytest.raises(InvalidParameterError, match="n_components=0 must be a whole number"):
        ELMNMF(n_components=0).fit(X)
    with pytest.raises(InvalidParameterError, match="gain=0"):
        ELMKMeans(features=RandomFeatures(gain=0)).fit(X)
    with pytest.raises(InvalidParameterError, match="'mean', 'local' or a positive number"):
        ELMNMF(features=RBFFeatures(width="wide")).fit(X)


@pytest.mark.parametrize("cls", BOTH)
def test_a_failed_fit_leaves_the_model_as_it_was(cls):
    model = cls(4, random_state=0).fit(X)
    before, names = model.labels_, set(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan))
    with pytest.raises(InvalidParameterError, match="n_clusters"):
        model.set_params(n_clusters=500).fit(X[:, :3])
    assert set(vars(model)) == names
    assert_array_equal(model.set_params(n_clusters=4).predict(X), before)


@pytest.mark.parametrize("cls", BOTH)
def test_columns_of_any_unit(cls):
    rows, classes = load_wine(return_X_y=True)
    model = cls(3, random_state=0).fit(rows)
    assert clustering_accuracy(classes, model.labels_) > 0.9


def test_control_charts():
    rows, classes = make_synthetic_control(0)
    assert clustering_accuracy(classes, ELMNMF(6, random_state=0).fit(rows).labels_) > 0.75
