from orthobench.contract.panel import Plot


def test_a_plot_draws_what_is_chosen_or_the_first_of_each_choice():
    choices = {"x": ("samples", "seconds"), "metric": ("gap", "angle")}
    plot = Plot("p", "k", choices, draw=lambda key: key)
    assert [*plot.keys()] == [
        ("samples", "gap"), ("samples", "angle"), ("seconds", "gap"), ("seconds", "angle"),
    ]  # fmt: skip
    assert plot.panel() == ("samples", "gap")
    assert plot.panel("seconds", "angle") == ("seconds", "angle")
    assert Plot("p", "k", {}, draw=lambda key: key).panel() == ()
