"""Nodes that ran each trial together: their times, stragglers, starts and absences."""
