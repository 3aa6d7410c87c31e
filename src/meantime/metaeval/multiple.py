"""P-values corrected for the number of comparisons they were picked from.

Of twenty true null hypotheses tested at 0.05, one is expected to look significant. Holm (1979)
keeps the probability of even one false finding below the level; Benjamini and Hochberg (1995) keep
the expected share of false ones among the findings below it, and find more.
"""

from __future__ import annotations

import numpy
from numpy.typing import ArrayLike

from meantime.errors import InputError
from meantime.protocols import Array


def holm(p_values: ArrayLike) -> Array:
    """P-values adjusted by Holm's step-down procedure.

        adjusted(i) = max over j <= i of min(1, (m - j + 1) * p(j))        p(1) <= ... <= p(m)

    Valid whatever the dependence between the tests. An adjusted value is compared with the level
    itself.

    Args:
        p_values: Each between 0 and 1, in any shape; all of them count as compared.

    Returns:
        Adjusted values in the same shape and order.
    """
    values = _checked(p_values)
    flat = values.ravel()
    count = flat.size
    order = numpy.argsort(flat, kind="stable")
    raised = numpy.minimum(1.0, flat[order] * numpy.arange(count, 0, -1))
    adjusted = numpy.empty(count)
    adjusted[order] = numpy.maximum.accumulate(raised)
    return adjusted.reshape(values.shape)


def benjamini_hochberg(p_values: ArrayLike) -> Array:
    """P-values adjusted by the step-up procedure of Benjamini and Hochberg.

        adjusted(i) = min over j >= i of min(1, m / j * p(j))              p(1) <= ... <= p(m)

    Valid for independent or positively dependent tests.

    Args:
        p_values: Each between 0 and 1, in any shape; all of them count as compared.

    Returns:
        Adjusted values in the same shape and order.
    """
    values = _checked(p_values)
    flat = values.ravel()
    count = flat.size
    order = numpy.argsort(flat, kind="stable")
    raised = flat[order] * (count / numpy.arange(1, count + 1))
    least = numpy.minimum.accumulate(raised[::-1])[::-1]
    adjusted = numpy.empty(count)
    adjusted[order] = numpy.minimum(1.0, least)
    return adjusted.reshape(values.shape)


def _checked(p_values: ArrayLike) -> Array:
    values = numpy.asarray(p_values, dtype=numpy.float64)
    # Written so that NaN, which compares as false, is refused too.
    if not numpy.all((values >= 0) & (values <= 1)):
        wrong = values[~((values >= 0) & (values <= 1))].flat[0]
        raise InputError(
            f"{wrong:g} is no p-value, which lies between 0 and 1; leave out comparisons that "
            "could not be made before correcting"
        )
    return values
