"""The API asked at random, by its own description: what it promises it keeps, whatever comes."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from meantime.serving import Limits
from tests.serving.conftest import make_app

APP = make_app(Limits(seconds=60, characters=200, words=30, segments=20, waiting=50))
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", APP, headers={"host": "localhost"})
EXCLUDED = [
    # A name of a metric or a file's content cannot be described by a schema: 400 says why.
    checks.positive_data_acceptance,
]


@SCHEMA.parametrize()
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_it_keeps_what_it_promises(case) -> None:
    case.call_and_validate(headers={"host": "localhost"}, excluded_checks=EXCLUDED, timeout=120)
