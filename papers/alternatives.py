"""What a user would take today in place of an ELM, with scikit-learn's own defaults."""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def nystroem_ridge(columns, seed):
    """Ridge on a kernel's low-rank space whose landmarks are drawn uniformly."""
    space = Nystroem(n_components=columns, random_state=seed)
    return make_pipeline(StandardScaler(), space, RidgeClassifier())


def support_vectors(columns, seed):
    """The usual kernel method; nothing in it is drawn."""
    return make_pipeline(StandardScaler(), SVC())


def boosting(columns, seed):
    """The usual first choice for tables."""
    return HistGradientBoostingClassifier(random_state=seed)


def logistic(columns, seed):
    """The usual linear model."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


# By name, a function of the number of columns, where there are such, and a seed.
ALTERNATIVES = {
    "nystroem": nystroem_ridge,
    "svc": support_vectors,
    "boosting": boosting,
    "logistic": logistic,
}
