from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.outliers import Outlier, OutlierRule, flag_outliers

BOTH = frozenset(OutlierRule)


def test_a_value_far_from_all_others_is_flagged_by_both_rules():
    values = [10.0, 10.1, 9.9, 10.2, 30.0, 9.8, 10.0]
    assert flag_outliers(values) == (Outlier(4, BOTH),)


def test_the_rules_can_differ():
    # Quartiles 2 and 4 put the fence at 7; median 3 and MAD 1 put the limit at 8.19.
    assert flag_outliers([1.0, 2.0, 3.0, 4.0, 7.5]) == (Outlier(4, frozenset({OutlierRule.TUKEY})),)
    # Quartiles 1.2 and 3.4 put the fence at 6.7; median 1.4 and MAD 0.4 put the limit at 3.48.
    values = [1.0, 1.1, 1.2, 1.3, 1.4, 3.0, 3.4, 4.0, 6.0]
    assert flag_outliers(values) == (
        Outlier(7, frozenset({OutlierRule.MAD})),
        Outlier(8, frozenset({OutlierRule.MAD})),
    )


def test_mostly_equal_values_leave_the_mad_silent():
    assert flag_outliers([5.0, 5.0, 5.0, 5.0, 5.1]) == (Outlier(4, frozenset({OutlierRule.TUKEY})),)


def test_an_empty_series_has_no_outliers():
    assert flag_outliers([]) == ()
    assert flag_outliers([3.0]) == ()


@given(st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_flags_point_into_the_series_once_each(values: list[float]):
    indices = [outlier.index for outlier in flag_outliers(values)]
    assert indices == sorted(set(indices))
    assert all(0 <= index < len(values) for index in indices)
