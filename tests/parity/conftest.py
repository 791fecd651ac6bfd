"""Whatever must coincide does so with the compiled kernels and with numpy's."""

import pytest

from fedmf import native


@pytest.fixture(scope="module", params=["compiled", "numpy"], autouse=True)
def kernels(request):
    """Run every test of this folder with both."""
    if request.param == "compiled" and not native.kernels():
        pytest.skip("no compiled kernels were built")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(native, "kernels", dict)
        yield
