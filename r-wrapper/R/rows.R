# Arguments that name columns of the data: by one rule, as those of lm and fixest do.

# The names of columns that an argument gives: bare, as texts, after ~, or several within c(), as of
# data.table within .() or list(), or joined by +. Names that are no columns of a data frame are
# variables, whose value names columns; of a file R does not know the columns, so there a variable
# that names columns comes first.
# `value` is the argument itself, which is evaluated only where its expression names no columns, as
# an element of another list than the data does not; `call` is where the data were given.
columns_given <- function(argument, expression, value, data, several = FALSE,
                          call = parent.frame()) {
  written <- names_in(expression)
  elsewhere <- taken_elsewhere(expression, call)
  if (!is.null(elsewhere)) {
    names <- tryCatch(value, error = function(e) NULL)
    if (!is.character(names) || length(names) != 1L) not_of_data(elsewhere)
  } else if (is_path(data) && !is.null(written)) {
    found <- tryCatch(value, error = function(e) written)
    names <- if (is.null(found) || is_naming(found)) found else written
  } else if (length(written) && all(written %in% names(data))) {
    names <- written
  } else {
    names <- tryCatch(value, error = function(e) no_value(argument, expression, written, data))
  }
  if (inherits(names, "formula")) {
    elsewhere <- taken_elsewhere(names, call)
    if (!is.null(elsewhere)) not_of_data(elsewhere)
    named <- names_in(names)
    names <- if (is.null(named)) no_value(argument, names, NULL, data) else named
  }
  checked_columns(argument, names, several)
}

is_naming <- function(value) is.character(value) || inherits(value, "formula")

checked_columns <- function(argument, names, several) {
  if (is.null(names)) return(NULL)
  if (is.character(names) && !anyNA(names) && (length(names) == 1L || several && length(names))) {
    return(enc2utf8(names))
  }
  wanted <- c(unit = "id", weights = "w", by = "tract", cluster = "state", columns = "wage",
              offset = "z", exposure = "t")[[argument]]
  bad_argument("expected ", argument, if (several) " to name one or more columns, as in "
               else " to be the name of a column, as in ", argument, " = ", wanted, " or ",
               argument, " = \"", wanted, "\", got ",
               if (is.character(names) && length(names) %in% 1:6) toString(names)
               else class(names)[1L])
}

no_value <- function(argument, expression, written, data) {
  unknown <- setdiff(written, names(data))
  if (length(unknown)) no_such_column(unknown[1L], names(data))
  bad_argument("expected ", argument, " to name a column of data, got ", deparse1(expression),
               "; make other columns before the call",
               if (argument == "columns") paste(", declare a factor of numbers by levels =",
                                                "list(educ = c(1, 2, 3)), and name groups by by = sex"))
}

# The first element of another list than the data in an expression that names columns, such as
# other$w, which is not the column w: the data are .data, or go by the expression in the call.
taken_elsewhere <- function(expression, call) {
  table <- eval(quote(substitute(data)), call)
  own <- function(taken) identical(taken[[2L]], table) || identical(taken[[2L]], as.name(".data"))
  Find(Negate(own), elements_in(expression))
}

elements_in <- function(expression) {
  if (!is.call(expression)) return(NULL)
  if (is_element(expression)) return(list(expression))
  unlist(lapply(as.list(expression)[-1L], elements_in))
}

is_element <- function(expression) {
  is.symbol(expression[[1L]]) && as.character(expression[[1L]]) %in% c("$", "[[")
}

not_of_data <- function(expression) {
  column <- names_in(expression)
  bad_argument(deparse1(expression), ": the columns of data go by their names alone; ",
               if (!is.null(column)) paste0("write ", column, " if it is the column of data, or else "),
               "make it a column of data and write its name")
}

# The names in an expression that only names columns, else NULL; d$x names x, as d[["x"]] does.
names_in <- function(expression) {
  if (is.symbol(expression)) return(as.character(expression))
  if (is.character(expression)) return(expression)
  if (!is.call(expression) || !is.symbol(expression[[1L]])) return(NULL)
  if (is_element(expression)) {
    name <- expression[[3L]]
    return(if (is.character(name) || identical(expression[[1L]], as.name("$"))) names_in(name))
  }
  if (!as.character(expression[[1L]]) %in% c("~", "c", "+", "(", ".", "list")) return(NULL)
  if (identical(expression[[1L]], as.name("~")) && length(expression) == 3L) return(NULL)
  parts <- lapply(as.list(expression)[-1L], names_in)
  if (!any(vapply(parts, is.null, TRUE))) unlist(parts)
}

# The condition that subset= gives, as an expression: bare, as a text, or a name for a text.
condition_given <- function(expression, data, workspace) {
  if (is.call(expression) && identical(expression[[1L]], as.name("~"))) expression <- expression[[length(expression)]]
  missing <- intersect(all.names(expression), c("is.na", "complete.cases", "na.omit"))
  if (length(missing)) {
    bad_argument("rows with a missing value in a column in use are left out anyway, so leave ",
                 missing[1L], "() out of subset; for other columns make one that says which rows to use")
  }
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
  expression <- own_notation(expression)
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
  text_of(expression)
}

# A bare name stands for a column; of a file R does not know the columns.
is_column <- function(name, data) is_path(data) || as.character(name) %in% names(data)
