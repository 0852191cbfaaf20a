"""ELM and kernel ELM as AutoGluon models, the form in which TabArena takes its entries.

``python -m benchmarks.tabarena FOLDER`` runs them, offline, on the tables of a folder: CSV or
Parquet files whose target is the column "target", or else the last. It prints what AutoGluon calls
the leaderboard, of each file a third of the rows held out. ``--with GBM CAT`` adds AutoGluon's own
models by their keys. Needs ``pip install autogluon.tabular``; for an entry, TabArena takes the
two classes as they are.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from autogluon.core.models import AbstractModel
from autogluon.tabular import TabularPredictor

import ulmus
from ulmus.tables import Table, TableEncoder


def table_of(frame):
    """A frame as a table: numbers with NaN, all else words with None."""
    columns = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            columns[str(name)] = column.to_numpy(float, na_value=np.nan)
        else:
            words = column.astype(object)
            columns[str(name)] = words.where(words.isna(), words.astype(str)).to_numpy(object)
            columns[str(name)][words.isna().to_numpy()] = None
    return Table(tuple(columns), columns)


class _TableModel(AbstractModel):
    """Columns by `TableEncoder`, and an estimator of Ulmus with its defaults."""

    _supported_problem_types = ("binary", "multiclass", "regression")
    kinds = ("", "")

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self._encoder = None

    @classmethod
    def supported_problem_types(cls):
        """What can be learnt."""
        return list(cls._supported_problem_types)

    def _preprocess(self, X, **_):
        table = table_of(super()._preprocess(X))
        if self._encoder is None:
            self._encoder = TableEncoder().fit(table)
        return self._encoder.transform(table)

    def _fit(self, X, y, sample_weight=None, **_):
        self._encoder = None
        kind = getattr(ulmus, self.kinds[self.problem_type == "regression"])
        model = kind(**{"random_state": 0, **self._get_model_params()})
        self.model = model.fit(self.preprocess(X), y.to_numpy(), sample_weight)


class ELMModel(_TableModel):
    """Random hidden units and one ridge solve."""

    ag_key, ag_name = "ELM", "ELM"
    kinds = ("ELMClassifier", "ELMRegressor")


class KernelELMModel(_TableModel):
    """A kernel, its width, C and column weights, chosen by leave-one-out."""

    ag_key, ag_name = "KELM", "KernelELM"
    kinds = ("KernelELMClassifier", "KernelELMRegressor")


def leaderboard(path, others):
    """AutoGluon's leaderboard for one file, with all models fitted to two thirds of its rows."""
    read = pd.read_parquet if path.suffix in (".parquet", ".pq") else pd.read_csv
    frame = read(path)
    target = "target" if "target" in frame.columns else frame.columns[-1]
    frame = frame[frame[target].notna()]
    test = np.random.RandomState(0).random_sample(len(frame)) < 1 / 3
    models = {ELMModel: {}, KernelELMModel: {}, **{key: {} for key in others}}
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(label=target, path=folder, verbosity=0)
        predictor.fit(frame[~test], hyperparameters=models, fit_weighted_ensemble=False)
        found = predictor.leaderboard(frame[test], silent=True)
    return found[["model", "eval_metric", "score_test", "fit_time", "pred_time_test"]]


def main():
    """Every table of the folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tabarena", description=__doc__)
    parser.add_argument("folder", type=Path, help="CSV and Parquet files")
    parser.add_argument("--with", dest="others", nargs="*", default=[], metavar="KEY")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.csv")) + sorted(arguments.folder.glob("*.p*q*"))
    if not files:
        parser.error(f"{arguments.folder} has no CSV or Parquet file.")
    for path in files:
        print(f"{path.name}\n{leaderboard(path, arguments.others).to_string(index=False)}\n")


if __name__ == "__main__":
    main()
