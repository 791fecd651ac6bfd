"""Folders that are no runs: one line that names the file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.numpy import save as tensors

import cases
import fedmf
from fedmf.errors import FileFormatError, MissingDataError, ParameterError
from fedmf.storage import CONFIG, HISTORY, LEDGER, MODEL, RESOLVED


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "run"
    cases.play(cases.federation()[0], fedmf.FedMGS(participants=2), 2).save(folder)
    return folder


@pytest.fixture
def broken(saved, folder):
    """Return a function that loads the run with one file's content replaced; None: without it."""

    def attempt(name, content):
        folder.mkdir()
        for path in saved.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content)
        return fedmf.load(folder)

    return attempt


@pytest.mark.parametrize("name", [CONFIG, RESOLVED, HISTORY, LEDGER])
def test_the_other_files_are_not_needed_to_load(name, broken, saved):
    cases.same(broken(name, b"no such file"), fedmf.load(saved))


def test_a_missing_model_is_named(broken):
    with pytest.raises(MissingDataError, match=f"{MODEL} is missing: is .*run the folder of a run"):
        broken(MODEL, None)


@pytest.mark.parametrize("content", [b"", b"\xff\xfejunk" * 100, b"\x80\x04N."])
def test_a_broken_model_is_named(content, broken):
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run") as refused:
        broken(MODEL, content)
    assert "\n" not in str(refused.value)


def test_half_a_model_is_named(broken, saved):
    content = (saved / MODEL).read_bytes()
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run"):
        broken(MODEL, content[: len(content) // 2])


@pytest.mark.parametrize("table", ["history", "ledger"])
def test_a_table_in_a_model_with_damaged_bytes_is_named(table, broken, saved):
    content = bytearray((saved / MODEL).read_bytes())
    about = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    first, last = about[f"table.{table}"]["data_offsets"]
    start = len(content) - max(e["data_offsets"][1] for n, e in about.items() if n[0] != "_")
    for place in (first + 8, (first + last) // 2, last - 12):
        content[start + place : start + place + 4] = b"\xff" * 4
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run") as refused:
        broken(MODEL, bytes(content))
    assert "\n" not in str(refused.value)


def model(metadata):
    return tensors({"a": np.zeros(3)}, metadata=metadata)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (tensors({"a": np.zeros(3)}), "model.safetensors is damaged or not of a run"),
        (model({"other": "1"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": "{}"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": "[]"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": "{"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": '{"format": 99}'}), "has the format 99; this reads 4$"),
        (model({"fedmf": '{"format": 4}'}), "model.safetensors is damaged .*table.history"),
    ],
)
def test_a_foreign_model_is_named(content, what, broken):
    with pytest.raises(FileFormatError, match=what):
        broken("model.safetensors", content)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"problem": 3}, "model.safetensors is damaged"),
        ({"problem": {}}, "model.safetensors is damaged .*rank"),
        ({"algorithm": {"name": "fedx"}}, "^algorithm must be one of"),
        ({"penalty": {"name": "x"}}, "^penalty must be one of 'sncp'; got 'x'"),
        ({"penalty": {"name": "sncp", "x": 1}}, "^penalty 'sncp' has no setting 'x'; it has start"),
        ({"penalty": {}}, "^penalty must be one of 'sncp'; got None"),
        ({"problem": {"rank": "x"}}, "^rank must be an int"),
        ({"algorithm": {"name": "fedmavg"}}, "model.safetensors is damaged"),
        ({"position": {}}, "model.safetensors is damaged"),
    ],
)
def test_settings_that_do_not_fit_are_named(changed, what, broken, saved):
    with safe_open(saved / MODEL, framework="numpy") as file:
        state = json.loads(file.metadata()["fedmf"])
        held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    content = tensors(held, metadata={"fedmf": json.dumps({**state, **changed})})
    with pytest.raises(fedmf.FedMFError, match=what) as refused:
        broken(MODEL, content)
    assert "\n" not in str(refused.value)


def test_a_table_of_something_else_is_named(broken, saved):
    with safe_open(saved / MODEL, framework="numpy") as file:
        metadata = file.metadata()
        held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    held["table.ledger"] = np.frombuffer(pd.DataFrame({"a": [1]}).to_parquet(None), np.uint8)
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run"):
        broken(MODEL, tensors(held, metadata=metadata))


def test_a_file_where_the_folder_should_be(tmp_path, sites):
    (tmp_path / "run").write_text("something else")
    with pytest.raises(ParameterError, match=r"run is a file: a run needs a folder$"):
        cases.play(sites, fedmf.FedMGS(), 1).save(tmp_path / "run")


def test_a_folder_that_is_not_there(tmp_path):
    for place in (tmp_path / "nothing", tmp_path, Path(__file__)):
        with pytest.raises(MissingDataError, match=r"is missing: is .* the folder of a run"):
            fedmf.load(place)


def test_the_models_metadata_is_plain_json(saved):
    with safe_open(saved / "model.safetensors", framework="numpy") as file:
        state = json.loads(file.metadata()["fedmf"])
    assert state["format"] == 4
    assert state["position"]["round"] == 2
