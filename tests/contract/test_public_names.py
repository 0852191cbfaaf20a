"""The front door: what is public, documented, and cheap to open."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ulmus
import ulmus.exceptions
from ulmus.kernels import KERNELS
from ulmus.persistence import classes

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
MODULES = [
    module.name
    for module in pkgutil.walk_packages(ulmus.__path__, "ulmus.")
    if not module.name.endswith("__main__")
]
BUILT = {"_build", "examples", "generated", "tables", "report.md"}
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").glob("**/*.md")
        if not BUILT & set(page.relative_to(ROOT / "docs").parts)
    ),
]


def test_public_names():
    assert sorted(ulmus.__all__) == [
        "ConjugateGradients",
        "ELMClassifier",
        "ELMEmbedding",
        "ELMKMeans",
        "ELMLayout",
        "ELMNMF",
        "ELMRegressor",
        "ELMSpectralClustering",
        "GraphELMClassifier",
        "KNNGraph",
        "KernelELMClassifier",
        "KernelELMRegressor",
        "KernelFeatures",
        "LowRank",
        "ManifoldELMClassifier",
        "RBFFeatures",
        "RandomFeatures",
        "Randomized",
        "RowFeatures",
        "SemiSupervisedELMClassifier",
        "SemiSupervisedELMRegressor",
        "SparseELMClassifier",
        "__version__",
        "load",
        "on_device",
        "save",
        "save_onnx",
        "to_device",
        "to_host",
        "to_onnx",
    ]
    for name in ulmus.__all__:
        assert hasattr(ulmus, name)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_offers(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    for public in getattr(module, "__all__", []):
        assert hasattr(module, public), f"{name}.__all__ names {public}, which is not there"


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A folder for the files of an example; the classes that it registers go when it ends."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(classes, "_KNOWN", dict(classes._KNOWN))
    kernels = dict(KERNELS)
    yield
    KERNELS.clear()
    KERNELS.update(kernels)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"np": __import__("numpy")}).failed == 0


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_in_pages_run(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


def public_names():
    """The names of ``ulmus`` and of every module that the reference names, each in full.

    A module of which the reference has one name is public, and all that it offers with it.
    """
    listed = re.findall(r"^   ([a-z]+)\.\w+$", REFERENCE, flags=re.MULTILINE)
    modules = ["ulmus", *(f"ulmus.{name}" for name in sorted(set(listed)))]
    assert {"batches", "graphs", "kernels", "metrics"} <= set(listed)
    return [f"{name}.{one}" for name in modules for one in importlib.import_module(name).__all__]


@pytest.mark.parametrize("name", public_names())
def test_every_public_name_has_a_page_and_an_example_that_runs(name):
    short = name.removeprefix("ulmus.")
    thing = pkgutil.resolve_name(name)
    if not callable(thing):
        assert short.split(".")[-1] in REFERENCE, f"{name} is not in docs/reference/index.md"
        return
    # What ``ulmus`` offers of a public module is listed once, with that module.
    names = {short, f"{thing.__module__.removeprefix('ulmus.')}.{thing.__name__}"}
    if thing.__name__ in ulmus.__all__:
        names.add(thing.__name__)
    listed = any(f"\n   {one}\n" in REFERENCE for one in names)
    assert listed, f"{name} has no line in docs/reference/index.md"
    assert "Examples\n--------\n>>> " in inspect.getdoc(thing), f"{name} has no example"
    # What `test_examples_in_docstrings_run` runs is what the module that defines it shows.
    assert thing.__module__ in MODULES


@pytest.mark.parametrize("name", ulmus.exceptions.__all__)
def test_every_error_is_in_the_tree_and_has_an_example(name):
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert f" {name}" in ulmus.exceptions.__doc__ or f"\n{name}" in ulmus.exceptions.__doc__
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S))
    assert name in examples, f"docs/reference/errors.md does not show when {name} comes"


@pytest.mark.parametrize("name", [n for n in ulmus.__all__ if n[0].isupper()])
def test_every_public_class_documents_its_parameters(name):
    cls = getattr(ulmus, name)
    for section in ("Parameters", "Examples"):
        assert f"\n{section}\n---" in inspect.getdoc(cls), f"{name} has no {section}"
    for parameter in inspect.signature(cls).parameters:
        assert f"\n{parameter} : " in inspect.getdoc(cls), f"{name} does not document {parameter}"


def test_importing_brings_no_optional_package():
    # scikit-learn itself brings pandas where it is installed.
    code = (
        "import sys, sklearn.linear_model; before = set(sys.modules); import ulmus; "
        "heavy = {'matplotlib', 'pandas', 'torch', 'cupy', 'dask', 'numba', 'pynndescent', "
        "'polars', 'pyarrow', 'onnx', 'hypothesis', 'pytest'}; "
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]", seen.stdout + seen.stderr
