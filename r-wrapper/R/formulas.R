# Formulas, and the columns that they read, on their way to Python.

formula_text <- function(formula) {
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    bad_argument("expected formula to be one such as y ~ x1 + x2",
                 if (is.character(formula)) ", without quotes")
  }
  refuse_dotted(formula_variables(formula))
  attributes(formula) <- NULL
  text_of(formula)
}

# An expression as R writes it, but for numbers that 15 digits do not reproduce, which have 17.
text_of <- function(expression) {
  text <- paste(trimws(deparse(marked(expression), width.cutoff = 500L)), collapse = " ")
  enc2utf8(gsub("`17 digits: ([0-9.e+-]+)`", "\\1", text))
}

# Such numbers as names, which deparse() leaves as they are.
marked <- function(expression) {
  if (is.double(expression) && is.finite(expression) && expression != as.numeric(deparse(expression))) {
    return(as.name(sprintf("17 digits: %.17g", expression)))
  }
  if (is.call(expression)) expression[] <- lapply(as.list(expression), marked)
  expression
}

# The paths, or the columns in use.
bridge_data <- function(formula, data, by) {
  if (is_path(data)) return(as.list(enc2utf8(path.expand(unname(data)))))
  bridge_columns(used_columns(formula, data, by))
}

# The groups' columns, and those that a formula or some of several name, with a dot all.
used_columns <- function(formula, data, by) {
  formulas <- if (is.list(formula)) formula else list(formula)
  used <- c(by, unlist(lapply(formulas, formula_variables)))
  unknown <- setdiff(used, c(names(data), "."))
  if (length(unknown)) no_such_column(unknown[1L], names(data))
  if ("." %in% used) refuse_dotted(names(data))
  as.list(data)[if ("." %in% used) names(data) else intersect(names(data), used)]
}

# R takes these names for arguments of a function, so no fit could be made of what was paid for.
refuse_dotted <- function(names) {
  dotted <- grep("^[.][.]([.]|[0-9]+)$", names, value = TRUE)
  if (length(dotted)) {
    bad_argument("column '", dotted[1L], "' has a name that R keeps for arguments; rename it")
  }
}

# What is declared for the columns in use and for what is no column, as of a whole data set.
concerning <- function(declared, columns, data) {
  if (is_path(data) || is.environment(declared) || is.null(names(declared))) return(declared)
  declared[!names(declared) %in% setdiff(names(data), names(columns))]
}

# The formula with the values of single numbers, texts, truth values and dates of its environment
# that are no columns of the data, such as a cut-off, and of vectors right of %in%; of a file R does
# not know the columns.
with_constants <- function(formula, data) {
  if (is.list(formula)) return(lapply(formula, with_constants, data))
  if (is_path(data) || !inherits(formula, "formula")) return(formula)
  workspace <- if (is.null(environment(formula))) globalenv() else environment(formula)
  formula[-1L] <- lapply(as.list(formula)[-1L], put_in_lists, names(data), workspace)
  names <- setdiff(formula_variables(formula), c(names(data), "."))
  values <- lapply(stats::setNames(names, names), function(name) {
    constant(get0(name, envir = workspace), name)
  })
  formula[-1L] <- lapply(as.list(formula)[-1L], put_in, Filter(Negate(is.null), values))
  formula
}

# An expression with the values of vectors of the workspace right of %in%, listed by c(), within
# calls of functions; by itself %in% nests terms.
put_in_lists <- function(expression, columns, workspace, within = FALSE) {
  if (!is.call(expression)) return(expression)
  if (within && identical(expression[[1L]], as.name("%in%")) && is.symbol(expression[[3L]])) {
    name <- as.character(expression[[3L]])
    value <- if (!name %in% columns) get0(name, envir = workspace)
    if (is.factor(value)) value <- as.character(value)
    if (is.atomic(value) && !is.object(value) && length(value) > 1L && !anyNA(value)) {
      expression[[3L]] <- as.call(c(as.name("c"), as.list(unname(value))))
    }
  }
  within <- within || !as.character(expression[[1L]])[1L] %in% formula_operators
  expression[-1L] <- lapply(as.list(expression)[-1L], put_in_lists, columns, workspace, within)
  expression
}

# A single value as it is written in a formula, else NULL.
constant <- function(value, name) {
  if (is.atomic(value) && length(value) > 1L) {
    bad_argument("no column '", name, "', which is a vector of the workspace, of which only single values ",
                 "stand in a formula, and vectors without NA right of %in%, as in I(x %in% ", name,
                 "); else make it a column")
  }
  if (!is.atomic(value) || length(value) != 1L || is.na(value)) return(NULL)
  names(value) <- NULL # as of quantile() and coef()
  if (inherits(value, "Date")) return(call("as.Date", format(value)))
  if (!is.null(attributes(value)) || is.complex(value)) return(NULL)
  if (is.infinite(value)) {
    bad_argument("no column '", name, "', and that of the workspace is ", value, ", where a formula ",
                 "takes a finite number")
  }
  # -2 and not its call would be written without parentheses in (-2)^2
  if (is.numeric(value) && value < 0) call("-", -value) else value
}

formula_operators <- c("+", "-", "*", ":", "/", "^", "%in%", "(", "|", "~")

# An expression with values put in for names within calls of functions; a term by itself is a
# column.
put_in <- function(expression, values, within = FALSE) {
  if (is.symbol(expression) && within && as.character(expression) %in% names(values)) {
    return(values[[as.character(expression)]])
  }
  if (!is.call(expression)) return(expression)
  within <- within || !as.character(expression[[1L]])[1L] %in% formula_operators
  expression[-1L] <- lapply(as.list(expression)[-1L], put_in, values, within)
  expression
}

formula_variables <- function(formula) {
  grep("^contr[.]", all.vars(formula), value = TRUE, invert = TRUE)
}
