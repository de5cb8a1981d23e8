# The rows of a fit: arguments that name columns of the data, as those of lm do.

# The name of the column that an argument gives, bare or as a text.
column_given <- function(argument, expression, data, workspace) {
  if (is.symbol(expression) && is_column(expression, data)) return(as.character(expression))
  if (is.symbol(expression) && !exists(as.character(expression), workspace)) {
    bad_argument("no column '", expression, "'; the columns are ", toString(names(data)))
  }
  value <- eval(expression, workspace)
  if (is.null(value)) return(NULL)
  if (!is.character(value) || length(value) != 1L || is.na(value)) {
    bad_argument("expected ", argument, " to be the name of a column, as in ", argument,
                 if (argument == "unit") " = id" else " = w", ", got ", class(value)[1L])
  }
  enc2utf8(value)
}

# The condition that subset= gives, as an expression: bare, as a text, or a name for a text.
condition_given <- function(expression, data, workspace) {
  if (is.symbol(expression) && !is_column(expression, data)) {
    name <- as.character(expression)
    if (is.null(get0(name, workspace, ifnotfound = name))) return(NULL)
    expression <- get0(name, workspace, mode = "character", ifnotfound = expression)
  }
  if (is.null(expression)) return(NULL)
  if (is.character(expression)) return(parsed_condition(expression))
  if (!is.language(expression)) {
    bad_argument("expected subset to be a condition on one row, such as age > 25, got ",
                 class(expression)[1L])
  }
  formula <- stats::as.formula(call("~", 0, call("I", expression)), env = workspace)
  with_constants(formula, data)[[3L]][[2L]]
}

parsed_condition <- function(text) {
  parsed <- tryCatch(parse(text = text, keep.source = FALSE), error = function(e) NULL)
  if (length(text) != 1L || length(parsed) != 1L) {
    bad_argument("expected subset to be one condition, such as \"age > 25\"")
  }
  parsed[[1L]]
}

condition_text <- function(expression) {
  if (is.null(expression)) return(NULL)
  enc2utf8(paste(trimws(deparse(expression, width.cutoff = 500L)), collapse = " "))
}

# A bare name stands for a column; of a file R does not know the columns.
is_column <- function(name, data) is_path(data) || as.character(name) %in% names(data)
