"""Whatever must coincide does so with the compiled kernels, with numpy's, and on devices.

The devices are array-api-strict's, which has what the array API standard has and nothing else, and
torch's "cpu" and "cuda", where they are. A test marked `processor` is of what none of them takes.
"""

import pytest

import elsewhere
from fedmf import native


@pytest.fixture(scope="module", params=["compiled", "numpy", *elsewhere.DEVICES], autouse=True)
def kernels(request):
    """Run every test of this folder with all of them."""
    if request.param == "compiled" and not native.kernels():
        pytest.skip("no compiled kernels were built")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(native, "kernels", dict)
        if request.param in elsewhere.DEVICES:
            device = elsewhere.DEVICES[request.param]()
            patch.setattr("fedmf.fitting._device", {None: device}.__getitem__)
        yield


def pytest_collection_modifyitems(config, items):
    """Leave out what a device does not take."""
    out = [item for item in items if item.get_closest_marker("processor") and on_device(item)]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in out]


def on_device(item):
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get("kernels") in elsewhere.DEVICES
