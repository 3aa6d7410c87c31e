from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control

from meantime.errors import InputError
from meantime.metaeval.multiple import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_holm_by_hand() -> None:
    # Ordered 0.005 0.01 0.03 0.04 times 4 3 2 1: 0.02 0.03 0.06 0.04, and never falling.
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_by_hand() -> None:
    # Ordered 0.005 0.01 0.03 0.04 times 4/1 4/2 4/3 4/4: 0.02 0.02 0.04 0.04.
    assert_allclose(benjamini_hochberg([0.01, 0.04, 0.03, 0.005]), [0.02, 0.04, 0.04, 0.02])


@given(P_VALUES)
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    # The definition: step down from the smallest until one is not significant.
    for level in (0.01, 0.05, 0.3, 0.9):
        rejected = set()
        for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if p_values[index] * (len(p_values) - step) > level:
                break
            rejected.add(index)
        assert set(numpy.flatnonzero(holm(p_values) <= level)) == rejected


@given(P_VALUES)
def test_benjamini_hochberg_equals_scipy(p_values: list[float]) -> None:
    assert_allclose(benjamini_hochberg(p_values), false_discovery_control(p_values), atol=1e-300)


@given(P_VALUES)
def test_holm_is_stricter_and_neither_lowers_a_value(p_values: list[float]) -> None:
    loose = benjamini_hochberg(p_values)
    assert numpy.all(holm(p_values) >= loose * (1 - 1e-12))
    assert numpy.all(loose >= numpy.array(p_values) * (1 - 1e-12))


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_shape_is_kept_and_nothing_is_nothing(correct) -> None:
    table = numpy.array([[0.01, 0.04], [0.03, 0.005]])
    assert_allclose(correct(table), correct(table.ravel()).reshape(2, 2))
    assert correct([]).shape == (0,)


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan])
def test_what_is_no_p_value_is_refused(correct, wrong: float) -> None:
    with pytest.raises(InputError, match="no p-value"):
        correct([0.5, wrong])
