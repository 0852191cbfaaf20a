"""What is stated once stays as it was stated."""

import dataclasses
import importlib
import pkgutil

import pytest

import ulmus.methods
import ulmus.sources

MODULES = [
    "estimators.class_labels",
    "estimators.value_labels",
    "graphs",
    "hidden",
    "kernels.lowrank",
    "problem",
    "reservoir",
    "targets",
]
MODULES += [f"methods.{part.name}" for part in pkgutil.iter_modules(ulmus.methods.__path__)]
MODULES += [f"sources.{part.name}" for part in pkgutil.iter_modules(ulmus.sources.__path__)]
# Where an iteration is, which changes with every step.
UNDER_WAY = {"_Column", "_Point"}


@pytest.mark.parametrize("name", MODULES)
def test_the_parts_of_a_solve_are_frozen(name):
    module = importlib.import_module(f"ulmus.{name}")
    for part in vars(module).values():
        own = dataclasses.is_dataclass(part) and part.__module__ == module.__name__
        if own and part.__name__ not in UNDER_WAY:
            assert part.__dataclass_params__.frozen, part
