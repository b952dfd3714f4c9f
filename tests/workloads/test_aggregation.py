"""Rounds and neighbours as one measurement, in which nothing is mixed up."""

from __future__ import annotations

from iostudy.workloads.aggregation import average_rounds, combine_workloads
from iostudy.workloads.measurement import Measurement, Part


def test_one_round_is_itself_and_none_is_nothing():
    parts = (Part({"job": "1"}, {"rate": 2.0}),)
    one = Measurement({"rate": 1.5}, {"read": ((1.0, 3),)}, parts, ("n",), ("d",))
    assert average_rounds([one]) == one
    assert average_rounds([]) == Measurement({})


def test_figures_are_means_and_histograms_are_added():
    mean = average_rounds(
        [
            Measurement(
                {"rate": 1.0, "only": 1.0}, {"read": ((1.0, 3), (2.0, 1))}, notes=("same",)
            ),
            Measurement(
                {"rate": 4.0}, {"read": ((2.0, 5),), "write": ((1.0, 1),)}, notes=("same",)
            ),
        ]
    )
    assert mean.figures == {"rate": 2.5}
    assert mean.latencies == {"read": ((1.0, 3), (2.0, 6)), "write": ((1.0, 1),)}
    assert mean.notes == ("same",)


def test_parts_are_put_together_by_their_labels():
    def measured(value):
        return Measurement(
            {}, parts=(Part({"job": "1"}, {"v": value}), Part({"job": "2"}, {"v": 0.0}))
        )

    parts = average_rounds([measured(1.0), measured(3.0)]).parts
    assert parts == (Part({"job": "1"}, {"v": 2.0}), Part({"job": "2"}, {"v": 0.0}))


def test_neighbours_keep_everything_under_their_own_label():
    parts = (Part({"job": "1"}, {"v": 2.0}),)
    one = Measurement({"rate": 1.0}, {"read": ((1.0, 3),)}, parts, ("n",), ("d",))
    two = Measurement({"rate": 2.0})
    combined = combine_workloads({"a": one, "b": two})
    assert combined.figures == {"a.rate": 1.0, "b.rate": 2.0}
    assert combined.latencies == {"a.read": ((1.0, 3),)}
    assert combined.parts == (Part({"workload": "a", "job": "1"}, {"a.v": 2.0}),)
    assert combined.notes == ("a: n",)
    assert combined.departures == ("a: d",)
