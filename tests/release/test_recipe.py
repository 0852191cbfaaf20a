"""The conda recipe and the recipes for other tools say what the project says."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import recipes
from ulmus.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8"))


def bare(requirements):
    return sorted(re.sub(r"\s+", "", requirement) for requirement in requirements)


def test_the_conda_recipe_needs_what_the_project_needs():
    python = f"python{PROJECT['project']['requires-python']}"
    run = RECIPE["requirements"]["run"]
    assert bare(run) == bare([python, *PROJECT["project"]["dependencies"]])
    host = bare(RECIPE["requirements"]["host"])
    assert host == bare([python, "pip", *PROJECT["build-system"]["requires"]])


def test_the_conda_recipe_has_the_projects_version_command_and_words():
    assert RECIPE["package"] == {"name": "ulmus", "version": __version__}
    (entry,) = RECIPE["build"]["entry_points"]
    assert entry == f"ulmus = {PROJECT['project']['scripts']['ulmus']}"
    assert RECIPE["about"]["summary"] == PROJECT["project"]["description"]
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]
    for place in (RECIPE["about"]["license_file"], *RECIPE["test"]["source_files"]):
        assert (ROOT / place).is_file()


def test_recipes_with_packages_that_are_not_installed_are_found_on_the_page():
    page = recipes.PAGE.read_text(encoding="utf-8")
    found = dict(recipes.sections(page))
    assert set(found) == {"mlflow", "Optuna", "SHAP", "skore"}
    for code in found.values():
        compile(code, "recipe", "exec")
        assert "load_iris" in code, "it does not begin with the page's rows"


@pytest.mark.parametrize(("line", "failed"), [("assert X.shape", 0), ("assert not len(X)", 1)])
def test_a_recipe_that_raises_is_counted(line, failed, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> from sklearn.datasets import load_iris\n"
        ">>> X, y = load_iris(return_X_y=True)\n\n```\n"
        f"## One\n\n```python\n{line}\n```\n"
    )
    monkeypatch.setattr(recipes, "PAGE", page)
    assert recipes.main() == failed
    assert capsys.readouterr().out == f"One: {'failed' if failed else 'works'}\n"
