"""How the report draws: one colour a method, distribution functions, one legend a picture."""

import numpy as np

# Okabe and Ito's colours and two dark ones of Paul Tol's, told apart under colour blindness.
COLOURS = {
    "exp_theil_sen": "#0072B2",
    "wide_theil_sen": "#56B4E9",
    "ss_theil_sen": "#009E73",
    "noisy_stats": "#D55E00",
    "noisy_moments": "#E69F00",
    "gd_zcdp": "#CC79A7",
    "gd_approx": "#882255",
    "gd_pure": "#661100",
    "noisy_intercept": "#000000",
}
OTHERS = "0.6"
_DASHES = {"ols": ":", "theil_sen": ":", "mos": "--"}


def line_style(label: str) -> dict:
    """Colour and dashes of a method's line; baselines, which are not private, are grey."""
    if label in COLOURS:
        return {"color": COLOURS[label], "linestyle": "-"}
    return {"color": OTHERS, "linestyle": _DASHES.get(label.split(" ")[0], "-")}


def axes(columns: int = 1, height: float = 3.4):
    """A figure and its axes side by side, without frames on two sides."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, all_axes = pyplot.subplots(
        1, columns, figsize=(2.2 + 3.0 * columns, height), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for ax in all_axes[0]:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(all_axes[0])


def plain_log_ticks(ax) -> None:
    """Ticks at 1, 3, 10, 30 and so on, written out, on two logarithmic axes."""
    from matplotlib.ticker import LogLocator

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 3)))
        axis.set_major_formatter("{x:g}")
    ax.minorticks_off()


def distribution(ax, values, label: str) -> None:
    """Draw the empirical distribution function of values, infinite ones included."""
    ordered = np.sort(values[~np.isnan(values)])
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    ax.step(ordered, shares, where="post", label=label, linewidth=1.3, **line_style(label))


def legend(figure, ax) -> None:
    """One legend for all axes, to the right of the picture."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
