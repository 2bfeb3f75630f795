"""The figures of a run: metrics with intervals, compared with another run, shown in a terminal."""
