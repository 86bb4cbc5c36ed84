"""Metadata: links of the README on an index page, one version, lower bounds in one place, workflows that are pinned."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HOME = PROJECT["project"]["urls"]["Homepage"]
LINKS = re.findall(r"\]\(([^)\s]+)\)", README)
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def bounds(requirements):
    """Lower bounds by name; fasthdmr's own extras and packages without a bound are left out."""
    found = {}
    for requirement in requirements:
        if match := re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement):
            assert found.setdefault(match[1].lower(), match[2]) == match[2], f"{match[1]} has two bounds"
    return found


def declared():
    extras = PROJECT["project"]["optional-dependencies"]
    tested = [item for name, items in extras.items() if name not in ("bench", "docs", "dev") for item in items]
    return bounds([*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"], *tested])


def test_there_are_links():
    assert len(LINKS) > 20


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_links_of_the_readme_work_on_an_index_page(link):
    """They are absolute, and those of this repository lead to a file, and to a heading of it."""
    assert link.startswith("https://")
    raw = HOME.replace("https://github.com", "https://raw.githubusercontent.com") + "/main/"
    for start in (f"{HOME}/blob/main/", raw):
        if link.startswith(start):
            path, _, anchor = link.removeprefix(start).partition("#")
            assert (ROOT / path).is_file()
            assert not anchor or anchor in anchors(path)


def test_the_picture_is_not_a_page():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    assert all(picture.startswith("https://raw.githubusercontent.com/") for picture in pictures)


def test_every_extra_is_in_the_readme():
    for extra in set(PROJECT["project"]["optional-dependencies"]) - {"test", "docs", "dev", "bench"}:
        assert f"`{extra}`" in README


def test_the_version_is_said_once():
    version = text("VERSION").strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert f'version: "{version}"' in text("recipe/recipe.yaml")
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert not re.search(r"^version:", text("CITATION.cff"), re.MULTILINE)


def test_oldest_versions_are_the_declared_bounds():
    pinned = dict(re.findall(r"^([\w.-]+)==([\d.]+)$", text(".ci/oldest.txt").lower(), re.MULTILINE))
    assert pinned == declared()


def test_promised_versions_are_the_declared_bounds():
    python, *rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", text("docs/promises.md"), re.MULTILINE)
    assert PROJECT["project"]["requires-python"] == f">={python[1]}"
    extras = PROJECT["project"]["optional-dependencies"]
    of_users = [
        item for name, items in extras.items() if name not in ("test", "docs", "dev", "bench") for item in items
    ]
    assert dict(rows) == bounds([*PROJECT["project"]["dependencies"], *of_users])


def test_the_recipe_has_the_declared_bounds():
    recipe = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)$", text("recipe/recipe.yaml"), re.MULTILINE))
    assert recipe.pop("python") == PROJECT["project"]["requires-python"].removeprefix(">=")
    recipe["matplotlib"] = recipe.pop("matplotlib-base")
    assert recipe.items() <= declared().items()
    required = bounds(PROJECT["project"]["dependencies"])
    assert required.items() <= recipe.items()


def test_pythons_of_classifiers_are_tested_and_built():
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert len(pythons) > 3
    for python in pythons:
        assert f'"{python}"' in text(".github/workflows/tests.yml")
        assert f"cp{python.replace('.', '')}-*" in PROJECT["tool"]["cibuildwheel"]["build"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path):
    uses = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    assert uses
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses)


def test_there_are_workflows():
    assert {path.name for path in WORKFLOWS} >= {"tests.yml", "wheels.yml"}
