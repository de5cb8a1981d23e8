"""The variables a formula names, by use."""

from dpstats.formula import Formula


def test_a_formula_lists_its_variables_by_use():
    formula = Formula.parse(
        "np.log(wage) ~ age*I(school**2) + Q('my col'):age + C(sex) + I(race == 'w') + kids"
    )
    assert formula.response == "np.log(wage)"
    assert formula.variables == ("wage", "age", "school", "my col", "sex", "race", "kids")
    assert formula.predictors == formula.variables[1:]
    assert formula.declared == {"wage", "school"}
    assert formula.categorical == {"sex", "race"}
