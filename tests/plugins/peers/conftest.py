import pytest

from orthobench.tools import environment


@pytest.fixture(autouse=True)
def _installed(request):
    """Skip the tests of a file whose `PACKAGES` are not all there."""
    for package in getattr(request.module, "PACKAGES", ()):
        if environment.version(package) is None:
            pytest.skip(f"{package} is missing")
