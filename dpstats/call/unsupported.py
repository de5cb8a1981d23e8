"""Name what there is instead of an argument that other packages have, and of a misspelt one."""

from collections.abc import Collection, Mapping

from dpstats.errors import ArgumentError
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS
from dpstats.spelling import nearest, unknown_word

_FORMULA = "name the columns in the formula, as in dp_ols('y ~ x', data)"
_ROBUST = (
    'errors of different variances have cov_type="HC1", with the default, adassp, ssp, '
    "shrunken and noisy_moments"
)
_EFFECTS = "write 'y ~ x | column', which absorbs the effects of a column"
_PERSON = (
    'name their column, unit="person", which protects all rows of a person together and clusters '
    "standard errors"
)
_CLUSTER = (
    'name the column that errors are clustered by, cov_type="cluster", cluster="state"; where all '
    'of its rows are one person\'s, unit="person" protects them together'
)
_LINEAR = 'it fits a linear model; dp_glm(formula, data, family="binomial" or "poisson") others'
_OFFSET = "put it into the response, as in 'I(y - x) ~ z'; dp_logit and dp_poisson take offset="
_WEIGHTS = 'name a column, weights="w", with its public bounds'
_DROPPED = 'rows with a missing value are left out, missing="drop"'
_SEED = "noise is never seeded in a release; for tests use dpstats.testing.insecure_seed"
_STEPS = "the number of steps is fixed before rows are read, and none is printed; leave it out"
_INTERCEPT = "write 'y ~ 0 + x' for a line through the origin"
_LEVEL = "give it to result.summary(alpha=) or result.conf_int(alpha=), which cost nothing"
_BOUNDS = "give bounds={column: (low, high)} on columns as they are in the data"
_PENALTY = "adassp and noisy_newton choose their own ridge, and select= keeps the best terms"
_RANDOM = "there are no random effects; write 'y ~ x | column' or by= for effects by group"
OF_LINEARMODELS = dict.fromkeys(
    ("EntityEffects", "TimeEffects", "FixedEffects"),
    "dp_ols and dp_iv absorb the effects of a column, as in 'y ~ x | column'",
)
"""Say what to write for how formulas of linearmodels ask for effects of the rows' index."""
# Arguments that several functions do not take, each for a reason of its own.
_ERRORS = ("vcov", "vce", "se", "se_type", "robust", "hetero", "cov")
_PERSONS = ("id", "subject", "entity", "panel_id", "person")
_ABSORBED = ("fe", "fixef", "absorb", "entity_effects", "time_effects")
_RANDOMS = ("random", "re_formula", "vc_formula")
_PENALTIES = ("penalty", "ridge", "l1_ratio", "regularization", "C")
_ITERATIONS = ("maxiter", "max_iter", "disp", "tol", "solver", "start_params", "warn_convergence")
_GROUPS = ("groupby", "group_by", "over", "split")
_FAMILY = ("family", "link")
_METHOD = ("method", "companion", "companion_share")
_SELECT = ("select", "k", "select_share")
INSTEAD = {
    **dict.fromkeys(["endog", "exog", "X", "y", "x"], _FORMULA),
    **dict.fromkeys(_ERRORS, _ROBUST),
    **dict.fromkeys(["clusters", "cluster_var", "cov_kwds"], _CLUSTER),
    **dict.fromkeys(_PERSONS, _PERSON),
    **dict.fromkeys(_ABSORBED, _EFFECTS),
    **dict.fromkeys(_GROUPS, 'write by="column" for one fit a group'),
    **dict.fromkeys(_RANDOMS, _RANDOM),
    **dict.fromkeys(_FAMILY, _LINEAR),
    **dict.fromkeys(["offset", "exposure"], _OFFSET),
    **dict.fromkeys(["freq_weights", "var_weights", "sample_weight", "weight"], _WEIGHTS),
    **dict.fromkeys(["na_action", "na_rm", "na.rm", "dropna"], _DROPPED),
    **dict.fromkeys(["seed", "random_state", "rng"], _SEED),
    **dict.fromkeys(["hasconst", "fit_intercept", "intercept", "constant"], _INTERCEPT),
    **dict.fromkeys(["alpha", "conf_level"], _LEVEL),
    **dict.fromkeys(["bounds_X", "bounds_y", "data_norm", "sensitivity", "clip_bounds"], _BOUNDS),
    **dict.fromkeys(_PENALTIES, _PENALTY),
    **dict.fromkeys(_ITERATIONS, _STEPS),
    "contrasts": "write the coding in the formula, as in C(g, Sum)",
    "accountant": "give budget=dpstats.Budget(epsilon, delta)",
    "ledger": "give budget=dpstats.Ledger(path)",
    "verbose": "give progress=True",
    "eps": "give epsilon=",
    "instruments": "dp_iv('y ~ x + [d ~ z]', data) takes instruments",
}
"""Name what to write instead of an argument that other packages have."""

_CLUSTERED = 'for clustered ones give cov_type="cluster", cluster="state"'
_ALWAYS_ROBUST = f"standard errors are robust (HC1) always; {_CLUSTERED}"
_TERMS = "name the terms in the formula"
_UNPENALISED = dict.fromkeys(_PENALTIES, "there is no penalty to choose; leave it out")
INSTEAD_LOGIT = INSTEAD | {
    **dict.fromkeys(_ABSORBED, "write C(column) in the formula, with levels="),
    **dict.fromkeys(_RANDOMS, "there are no random effects; write by= for one fit a group"),
    **_UNPENALISED,
    "exposure": "an exposure is for dp_poisson; give offset= for what is added to the log odds",
    **dict.fromkeys(_METHOD, "a logit is fitted by one method; leave it out"),
    **dict.fromkeys(_ERRORS, f'robust standard errors have cov_type="HC1"; {_CLUSTERED}'),
    **dict.fromkeys(_SELECT, _TERMS),
    **dict.fromkeys(_FAMILY, "its family is binomial, and its link the logit"),
    "row_norm": "a logit needs no bounds",
}
"""Name what to write instead of such an argument of dp_logit."""

INSTEAD_POISSON = INSTEAD_LOGIT | {
    **dict.fromkeys(_ERRORS, _ALWAYS_ROBUST),
    **dict.fromkeys(_METHOD, "a Poisson regression is fitted by one method; leave it out"),
    **dict.fromkeys(_FAMILY, "its family is poisson, and its link the logarithm"),
    "row_norm": "a Poisson regression needs no bounds",
}
"""Name what to write instead of such an argument of dp_poisson."""

INSTEAD_IV = INSTEAD | {
    **_UNPENALISED,
    **dict.fromkeys(_METHOD, "dp_iv has one method; leave it out"),
    **dict.fromkeys(_SELECT, _TERMS),
    **dict.fromkeys(_ERRORS, _ALWAYS_ROBUST),
    **dict.fromkeys(["instruments", "endog", "exog", "iv"], "write them as in 'y ~ x + [d ~ z]'"),
    "x_new": "call result.predict(newdata)",
    "row_norm": "no bounds are needed",
}
"""Name what to write instead of such an argument of dp_iv."""

_SHARED = (
    *("freq_weights", "var_weights", "sample_weight", "weight", "na_action", "na_rm", "na.rm"),
    *("dropna", "seed", "random_state", "rng", "verbose", "eps", "accountant", "ledger"),
    *("bounds_X", "bounds_y", "data_norm", "sensitivity", "clip_bounds"),
)
_COLUMNS = "name the columns, as in dp_describe(data, ['age', 'wage'])"
_OF_PERSONS = 'where a person has several rows name their column, unit="person"'
INSTEAD_DESCRIBE = {name: INSTEAD[name] for name in _SHARED} | {
    **dict.fromkeys(["include", "exclude", "formula", "variables", "vars"], _COLUMNS),
    **dict.fromkeys(["percentiles", "probs", "q"], "give quantiles=(0.1, 0.9)"),
    **dict.fromkeys(_GROUPS, 'write by="column"'),
    **dict.fromkeys(["cov_type", "cluster", "clusters", "cov_kwds"], _OF_PERSONS),
    **dict.fromkeys(_PERSONS, _OF_PERSONS),
    "conf_level": "give alpha=",
    "bins": "histogram=True has bins that follow from bounds= or from what is released",
    "method": "descriptions are released by one method; leave it out",
    "n_jobs": "leave it out",
}
"""Name what to write instead of such an argument of dp_describe."""

# Names of commands and estimators of other programs, in small letters.
LEAST_SQUARES = (
    *("ols", "lm", "reg", "regress", "linear", "least_squares", "lstsq", "wls", "gls"),
    *("feols", "areg", "reghdfe", "xtreg", "fe", "within", "plm", "felm"),
)
_LOGIT = ("logit", "logistic", "glm", "binomial", "noisy_logit")
_POISSON = ("poisson", "count", "counts", "ppml", "fepois", "negbin", "noisy_poisson")
_INSTRUMENTS = ("iv", "2sls", "tsls", "iv2sls", "ivreg", "ivregress", "noisy_instruments")
_OTHER_MODELS = (
    *("probit", "tobit", "cox", "quantile", "quantreg", "gmm", "re", "random", "mixed"),
    *("lasso", "ridge", "elasticnet"),
)


def unknown_method(name, known: Collection[str]) -> ArgumentError:
    """Build the error for a method that there is not.

    >>> print(unknown_method("OLS", ["ops", "adassp"]))
    there is no method='OLS': every method fits least squares; leave method out for the default
    """
    said = name.lower() if isinstance(name, str) else ""
    if said in LEAST_SQUARES:
        return ArgumentError(
            f"there is no method={name!r}: every method fits least squares; leave method out for "
            "the default"
        )
    if said in _LOGIT:
        return ArgumentError(f"there is no method={name!r}: dp_logit fits a logistic regression")
    if said in _POISSON:
        return ArgumentError(f"there is no method={name!r}: dp_poisson fits a Poisson regression")
    if said in _INSTRUMENTS:
        return ArgumentError(f"there is no method={name!r}: dp_iv fits two-stage least squares")
    if said in _OTHER_MODELS:
        return ArgumentError(
            f"there is no method={name!r}: only linear regressions are fitted, by least squares; "
            "leave method out for the default"
        )
    return unknown_word("method", name, known)


def check_supported(
    options: Mapping,
    parameters: Collection[str],
    function: str = "dp_ols",
    others: Mapping[str, str] = INSTEAD,
) -> None:
    """Raise ArgumentError for an argument that a function and no method has, before all else.

    Parameters
    ----------
    options : mapping
        The arguments that are none of the ``parameters``.
    parameters : collection of str
        The parameters of the function.
    function : str
    others : mapping
        What to write instead of arguments that other packages have.
    """
    of_functions = {"dp_ols": METHODS, "dp_iv": INSTRUMENTAL, "dp_describe": {}}
    methods = of_functions.get(function, GENERALIZED)
    known = {name for method in methods.values() for name in method.options}
    for name, value in options.items():
        if name in known or value is None:
            continue
        near = nearest(name, [*parameters, *sorted(known)])
        instead = others.get(name) or near and f"did you mean {near}=?"
        if not instead and not methods:
            instead = f"help(dpstats.{function}) lists what it takes"
        if instead:
            raise ArgumentError(f"{function} has no argument {name}={_shown(value)}; {instead}")


def check_order(formula, data, function: str = "dp_ols") -> None:
    """Raise ArgumentError for a formula in the place of the data."""
    texts = [*formula.values()] if isinstance(formula, Mapping) else formula
    texts = [texts] if isinstance(texts, str) else texts
    known = isinstance(texts, list | tuple) and all(isinstance(t, str) and "~" in t for t in texts)
    if isinstance(data, str) and "~" in data and not data.startswith("~/") and not known:
        raise ArgumentError(
            f"formula and data are swapped, got data={data!r}; write {function}({data!r}, data)"
        )


def _shown(value) -> str:
    """Write a value that is surely no data: a text, a number or a truth value."""
    return repr(value) if isinstance(value, str | int | float) else f"<{type(value).__name__}>"
