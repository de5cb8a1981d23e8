# What people write in formulas of other functions, and what to write here.

# An expression without the packages of R's own functions, base::log(y); columns that are taken out
# of a data frame, d$y, are refused, and functions of other packages.
own_notation <- function(expression) {
  if (!is.call(expression)) return(expression)
  head <- expression[[1L]]
  if (is.call(head) && as.character(head[[1L]]) %in% c("::", ":::")) {
    if (!as.character(head[[2L]]) %in% c("base", "stats", "splines")) {
      bad_argument(deparse1(expression), ": functions of other packages are not known; make the ",
                   "column before the call")
    }
    expression[[1L]] <- head[[3L]]
  }
  if (identical(head, as.name("$")) || identical(head, as.name("[["))) {
    bad_argument(deparse1(expression), ": the columns of data go by their names alone; write ",
                 as.character(expression[[3L]]),
                 ", or, of another list, give the value a name first")
  }
  expression[-1L] <- lapply(as.list(expression)[-1L], own_notation)
  expression
}

own_formula <- function(formula) {
  if (is.list(formula)) return(lapply(formula, own_formula))
  if (!inherits(formula, "formula")) return(formula)
  formula <- stats::formula(formula) # of terms too, which have a method for [
  formula[-1L] <- lapply(as.list(formula)[-1L], own_notation)
  formula
}

# Refuse a name that is no column, with what may be meant.
no_such_column <- function(name, columns) {
  stata <- sub("^(i|c|ib[0-9]*)[.]", "", name)
  meant <- if (stata != name && stata %in% columns) {
    paste0("; write ", if (startsWith(name, "c.")) stata else paste0("factor(", stata, ")"))
  }
  if (name %in% c("sum", "helmert", "poly", "treatment")) {
    meant <- paste0("; if it is meant to code a factor, write contr.", name)
  }
  near <- nearest_name(name, columns)
  listed <- paste0(toString(utils::head(columns, 20L)), if (length(columns) > 20L) " and others")
  if (is.null(meant)) {
    meant <- if (length(near)) paste0("; did you mean column '", near, "'?")
             else if (length(columns)) paste0("; the columns are ", listed)
             else "; data has no columns"
  }
  bad_argument("no column '", name, "'", meant)
}

# The known name that is spelt most like this one, of length 0 where none is near.
nearest_name <- function(name, known) {
  distance <- utils::adist(name, known, ignore.case = TRUE)
  close <- distance <= nchar(name) / 3
  known[close][which.min(distance[close])]
}
