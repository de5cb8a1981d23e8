"""Say of names of other packages what a result has in their place, or why there is nothing."""

from dpstats.errors import NotReleasedError

_LIKELIHOOD = "the likelihood of confidential rows was not released"
_NEVER = {
    (
        *("resid", "resids", "wresid", "resid_pearson", "resid_dev", "resid_response"),
        *("fittedvalues", "fitted_values", "get_influence", "outlier_test"),
    ): "row by row it is the confidential data",
    ("ssr", "mse_resid"): "scale is the residual variance and df_resid its degrees of freedom",
    ("ess", "centered_tss", "uncentered_tss", "mse_model", "mse_total"): (
        "rsquared and scale say how far the model fits, where they were released"
    ),
    ("fvalue", "f_pvalue", "f_statistic"): "it was not paid for; f_test() tests hypotheses jointly",
    (
        *("aic", "bic", "info_criteria", "llf", "llnull", "llr", "llr_pvalue"),
        *("deviance", "null_deviance", "pearson_chi2"),
    ): _LIKELIHOOD,
    ("pred_table", "condition_number", "eigenvals"): "it was not paid for",
    ("fixef", "estimated_effects", "random_effects"): (
        "the effects of an absorbed column are not released, as each is about few rows"
    ),
    ("prsquared",): "McFadden's is of a logit alone",
    ("sargan", "basmann", "j_stat", "wooldridge_overid", "wu_hausman", "durbin"): (
        "no test of instruments was paid for; first_stage and anderson_rubin() of dp_iv tell how "
        "strong they are"
    ),
}
_HERE = {
    ("get_prediction",): "predict(newdata, interval=True)",
    ("predict_proba",): "predict(newdata)",
    ("summary2",): "summary()",
    ("save",): "to_json()",
    ("load",): "from_json(text)",
    ("loc", "get_group"): "result[label] of a fit with by=",
    ("score",): "rsquared",
    ("to_csv",): "tidy().to_csv(path)",
    ("to_latex", "as_latex"): "dpstats.compare(result).to_latex()",
    ("to_html", "as_html"): "dpstats.compare(result).to_html()",
    ("to_markdown",): "dpstats.compare(result).to_markdown()",
    ("to_word",): "dpstats.compare(result).to_word(path)",
    ("to_excel",): "dpstats.compare(result).to_excel(path)",
    ("wald_test", "wald_test_terms", "compare_f_test", "anova"): "f_test(hypotheses)",
    ("converged", "mle_retvals"): "status",
    ("odds_ratios", "rate_ratios", "irr"): "numpy.exp(params)",
    ("to_frame", "to_dataframe"): "tidy()",
    ("t_test_pairwise",): "t_test(hypotheses)",
    ("compare_lr_test", "compare_lm_test"): "f_test(hypotheses), a Wald test",
    ("coef", "coef_", "intercept_", "coefficients"): "params",
    ("se", "stderr", "std_err", "std_errors"): "bse",
    ("tstat", "tstats"): "tvalues",
    ("pvalue",): "pvalues",
    ("df_model",): "the number of slopes",
    ("confint",): "conf_int()",
    ("cov", "vcov", "normalized_cov_params"): "cov_params()",
    ("iplot", "coefplot", "qplot"): "plot()",
    ("etable",): "dpstats.compare(result)",
    ("get_robustcov_results", "HC0_se", "HC1_se", "HC2_se", "HC3_se"): (
        'bse of a fit with cov_type="HC1"'
    ),
    ("cov_HC0", "cov_HC1", "cov_HC2", "cov_HC3"): 'cov_params() of a fit with cov_type="HC1"',
}
_OF_GROUPS = (
    *("tvalues", "pvalues", "rsquared", "rsquared_adj", "scale", "df_resid", "fit_statistics"),
    *("prsquared", "cov_params", "f_test", "get_margeff", "raw_powers"),
)
_REASONS = {name: reason for names, reason in _NEVER.items() for name in names}
_NAMES = {name: here for names, here in _HERE.items() for name in names}


def refusal(result, name: str) -> AttributeError:
    """Build the error for an attribute that a result does not have.

    Examples
    --------
    >>> print(refusal(None, "coef_"))
    coef_ is params here
    >>> print(refusal(None, "shape"))
    'NoneType' object has no attribute 'shape'
    """
    if name in ("p25", "p75"):
        if hasattr(type(result), "first_stage"):  # dp_iv takes no x_new
            return NotReleasedError(f"{name} is not released by dp_iv; use predict(newdata)")
        return NotReleasedError(
            f"{name} exists for one numeric regressor and the default x_new; pass x_new= as a data "
            'frame with the index ["p25", "p75"], or use predict(newdata)'
        )
    if name in ("fit", "fit_regularized"):
        return NotReleasedError(f"this is the fit already, without {name}(); leave .{name}() out")
    if name in _OF_GROUPS and not hasattr(type(result), name):
        return NotReleasedError(f"{name} is of one group: result[label].{name}")
    if name in _REASONS:
        return NotReleasedError(
            f"{name} does not exist for a private fit: {_REASONS[name]}; params, "
            "predict(newdata), conf_int() and summary() do"
        )
    if name in _NAMES:
        return NotReleasedError(f"{name} is {_NAMES[name]} here")
    return AttributeError(
        f"{type(result).__name__!r} object has no attribute {name!r}", name=name, obj=result
    )
