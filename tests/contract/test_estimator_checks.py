"""Every public estimator passes scikit-learn's own checks, with no expected failure."""

import shutil

import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import ulmus
import ulmus.kernels


class WideKernel:
    """A kernel that suits the checks' data, whose columns have a deviation of twenty.

    The checks are named after it, so that its name must be the same in every process.
    """

    def __call__(self, X, Z):
        return rbf_kernel(X, Z, gamma=1e-3)

    def __repr__(self):
        return "WideKernel()"


ESTIMATORS = [
    cls()
    for cls in (getattr(ulmus, name) for name in ulmus.__all__)
    if isinstance(cls, type) and hasattr(cls, "fit")
]
# The checks ask for hundreds of fits: these choose among few points rather than among 169, have few
# units, and start from one draw of centres rather than from ten.
for model in ESTIMATORS:
    if isinstance(model, ulmus.SemiSupervisedELMClassifier | ulmus.SemiSupervisedELMRegressor):
        model.set_params(C=[0.1, 10.0], lam=[0.01, 1.0])
    if "n_init" in model.get_params():
        model.set_params(n_init=1)
    if isinstance(model, ulmus.GraphELMClassifier):
        model.set_params(C=[0.1, 10.0], lam=[0.01, 1.0])
    if isinstance(model, ulmus.ManifoldELMClassifier):
        model.set_params(C=[0.1, 10.0])
    if isinstance(model, ulmus.ELMSpectralClustering):
        model.set_params(n_hidden=30)
    if isinstance(model, ulmus.ELMNMF):
        model.set_params(n_hidden=20)
VARIANTS = [
    ulmus.ELMClassifier(C=1.0, n_hidden=50, class_weight={0: 1.0, 1: 2.0}),
    ulmus.ELMClassifier(n_hidden="loo", features=ulmus.RandomFeatures(50)),
    ulmus.ELMRegressor(C=[0.1, 1.0, 10.0], n_hidden=30),
    ulmus.GraphELMClassifier(C=1.0, lam=2.0, n_hidden=30),
    ulmus.ManifoldELMClassifier(C=1.0, n_hidden=30, form="bounded"),
    ulmus.ELMNMF(features=ulmus.RBFFeatures(20), solver="mu", n_init=1),
    ulmus.RandomFeatures(7, activation="relu", weights="orthogonal", scaling=None),
    ulmus.RandomFeatures(7, columns_per_unit=1),
    ulmus.RowFeatures(7, scaling=None),
    ulmus.RBFFeatures(7, node="robust", centers="uniform"),
    ulmus.KernelELMClassifier("rbf", method=ulmus.LowRank(tol=1e-3)),
    ulmus.KernelELMClassifier("laplacian", gamma="loo", C=1.0),
    ulmus.KernelELMRegressor("arcsine", fit_intercept=False),
    ulmus.KernelELMRegressor(ulmus.kernels.RBF(0.1), C=10.0),
    ulmus.KernelFeatures("poly", method="eig", tol=1e-3),
    ulmus.KernelFeatures(method="nystrom"),
    ulmus.SemiSupervisedELMClassifier(C=10.0, lam=0.1, n_hidden=20),
    ulmus.SemiSupervisedELMClassifier(
        C=10.0, lam=0.1, n_hidden=20, solver=ulmus.ConjugateGradients(1e-6)
    ),
    ulmus.SparseELMClassifier(C=1.0, n_hidden=30, class_weight="balanced"),
    ulmus.SparseELMClassifier(kernel=WideKernel(), tol=1e-9),
    ulmus.SemiSupervisedELMRegressor(C=100.0, lam=1e-3, n_hidden=30),
]


def expected_failures(estimator):
    """−1 marks a row without a label, as in scikit-learn's own semi-supervised classifiers."""
    if isinstance(estimator, ulmus.SemiSupervisedELMClassifier):
        return {"check_classifiers_classes": "fits labels −1 and 1, and −1 means unlabelled"}
    return {}


# Arrays that the checks would ask for and that are not here.
ABSENT = ["dpnp", "xpu", "mps"]
ABSENT += [] if shutil.which("nvidia-smi") else ["cupy", "cuda"]


def cases(checks):
    """What can run here of what scikit-learn asks for; PyTorch's part is run by `make torch`."""
    for case in checks:
        values, marks = getattr(case, "values", case), getattr(case, "marks", ())
        arrays = str(values[1].keywords)
        if not any(name in arrays for name in ABSENT):
            marks = [*marks, pytest.mark.torch] if "torch" in arrays else marks
            yield pytest.param(*values, marks=marks)


CHECKS = parametrize_with_checks(ESTIMATORS + VARIANTS, expected_failed_checks=expected_failures)
NAMES, ASKED = CHECKS.mark.args


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(NAMES, list(cases(ASKED)), **CHECKS.mark.kwargs)
def test_scikit_learn_check(estimator, check):
    check(estimator)
