# What offset = and exposure = name, and offset() in a formula, as glm() reads them. The logarithm of
# a column is an exposure.

# The formula, or several, without offset(), and the columns that it and the arguments name.
with_offsets <- function(formula, given, family) {
  its <- families[[family]]
  named <- lapply(c(offset = "offset", exposure = "exposure"), function(argument) {
    if (argument == "exposure" && family != "poisson") return(NULL)
    expression <- eval(bquote(substitute(.(as.name(argument)), given)))
    if (argument == "offset" && is_log(expression)) {
      elsewhere <- taken_elsewhere(expression, given)
      return(if (is.null(elsewhere)) expression else not_of_data(elsewhere))
    }
    columns_given(argument, expression, given[[argument]], given$data, call = given)
  })
  formulas <- if (is.list(formula)) formula else list(formula)
  inside <- unique(lapply(formulas, function(each) if (is_formula(each)) offsets_in(each[[length(each)]])))
  if (length(inside) > 1L) {
    bad_argument("formulas of one call share their offset; give it as offset = or fit them one by one")
  }
  found <- c(lapply(if (length(inside)) inside[[1L]], offset_named, its, given$data), list(offset_named(named$offset, its, given$data)),
             list(list(exposure = named$exposure)))
  found <- Filter(Negate(is.null), unlist(found, recursive = FALSE))
  twice <- names(found)[duplicated(names(found))]
  if (length(twice)) {
    bad_argument(its$verb, " takes one ", twice[1L], "; add them up in a column of data")
  }
  formulas <- lapply(formulas, function(each) {
    if (!is_formula(each)) return(each)
    right <- without_offsets(each[[length(each)]])
    each[[length(each)]] <- if (is.null(right)) 1 else right
    if (mentions_offset(each)) {
      bad_argument(its$verb, " takes offset() as a term of its own, as in y ~ x + offset(z)")
    }
    each
  })
  list(formula = if (is.list(formula)) stats::setNames(formulas, names(formula)) else formulas[[1L]],
       columns = found)
}

# The call with the columns of offsets as arguments: the formula of the fit has no offset().
with_columns <- function(written, columns) {
  written$offset <- written$exposure <- NULL
  for (name in names(columns)) written[[name]] <- as.name(columns[[name]])
  written
}

is_formula <- function(formula) inherits(formula, "formula")

mentions_offset <- function(formula) "offset" %in% setdiff(all.names(formula), all.vars(formula))

is_offset <- function(term) {
  is.call(term) && deparse1(term[[1L]]) %in% c("offset", "stats::offset") && length(term) == 2L
}

is_log <- function(term) {
  is.call(term) && identical(term[[1L]], as.name("log")) && length(term) == 2L
}

is_sum <- function(expression) {
  is.call(expression) && identical(expression[[1L]], as.name("+")) && length(expression) == 3L
}

# What the offsets of a sum of terms hold.
offsets_in <- function(right) {
  if (is_sum(right)) return(c(offsets_in(right[[2L]]), offsets_in(right[[3L]])))
  if (is_offset(right)) list(right[[2L]])
}

# A sum of terms without its offsets; NULL where nothing is left.
without_offsets <- function(right) {
  if (is_offset(right)) return(NULL)
  if (!is_sum(right)) return(right)
  parts <- Filter(Negate(is.null), lapply(as.list(right)[-1L], without_offsets))
  if (length(parts) == 2L) call("+", parts[[1L]], parts[[2L]]) else if (length(parts)) parts[[1L]]
}

# The column of an offset as a list of one: by its name, or the exposure of log(column).
offset_named <- function(term, its, data) {
  if (is.null(term)) return(NULL)
  if (is.character(term)) return(list(offset = term))
  argument <- if (is_log(term)) "exposure" else "offset"
  column <- if (is_log(term)) term[[2L]] else term
  written <- names_in(column)
  if (argument == "exposure" && its$link != "log") {
    bad_argument("the logarithm of an exposure is an offset of dp_poisson(); for ", its$noun,
                 " make a column of ", deparse1(term), " and name that")
  }
  if (length(written) != 1L) {
    bad_argument("expected offset() to hold a column", if (its$link == "log") " or its logarithm",
                 ", got ", deparse1(term), "; make a column of it")
  }
  if (!is_path(data) && !written %in% names(data)) no_such_column(written, names(data))
  stats::setNames(list(enc2utf8(written)), argument)
}
