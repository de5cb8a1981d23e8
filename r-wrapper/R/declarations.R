# What is declared by name, and points to predict at, on their way to Python.

# Names of a list's entries, "" where there is none.
entry_names <- function(entries) {
  if (is.null(names(entries))) character(length(entries)) else names(entries)
}

# The name that stands twice, of which Python would keep the last value and R the first.
check_distinct <- function(names, what) {
  twice <- names[duplicated(names)]
  if (length(twice)) bad_argument(what, " holds ", twice[1L], " twice; keep one of them")
}

# A named list whose entries Python will see as lists, whatever their length.
named_lists <- function(values, argument, files = FALSE) {
  if (is.null(values)) return(NULL)
  named <- is.list(values) && !is.null(names(values)) && all(names(values) != "")
  if (!named) {
    bad_argument("expected ", argument, " to be a named list, such as list(x = ",
                 if (argument %in% c("bounds", "x_range")) "c(0, 1))" else "c(\"a\", \"b\"))")
  }
  check_distinct(names(values), argument)
  for (name in names(values)) check_plain(listed(values[[name]]), paste0(argument, "$", name))
  if (anyNA(values, recursive = TRUE)) bad_argument("argument ", argument, " holds NA")
  reticulate::dict(lapply(values, function(each) as.list(listed(each, files))))
}

named_types <- function(types) {
  if (is.null(types)) return(NULL)
  types <- as.list(types)
  texts <- vapply(types, function(type) is.character(type) && length(type) == 1L, logical(1L))
  if (!all(texts, entry_names(types) != "") || anyNA(types, recursive = TRUE)) {
    bad_argument("expected types to be a named list, such as list(tract = \"integer\")")
  }
  check_distinct(names(types), "types")
  reticulate::dict(types)
}

# Which of some columns of a data frame are dates; NULL of files, of which R does not know.
dates_of <- function(data, names) {
  if (!is.data.frame(data)) return(NULL)
  Filter(function(name) inherits(data[[name]], "Date"), intersect(names, names(data)))
}

# Dates are numbers of days, which other columns of numbers are not; of files `dates` is NULL.
check_dates <- function(given, names, dates, what) {
  for (name in if (is.list(given) && !is.null(dates)) setdiff(intersect(names(given), names), dates)) {
    if (inherits(given[[name]], "Date")) {
      bad_argument(what, " has dates for '", name, "', a column that is none; give numbers")
    }
  }
}

# Columns of dates are numbers in data frames and none in files: there a range of dates is refused.
check_ranges <- function(given, data, what) {
  check_dates(given, names(data), dates_of(data, names(data)), what)
  for (name in if (is_path(data) && is.list(given)) names(given)) {
    if (inherits(given[[name]], "Date")) {
      bad_argument(what, " has dates for '", name, "', and dates of files are labels; make a ",
                   "column of their days in the files and give numbers")
    }
  }
}

# Dates would have numbers of days for levels.
refuse_levels <- function(levels, dates) {
  listed <- intersect(dates, names(levels))
  if (length(listed)) {
    bad_argument("levels lists ", listed[1L], ", a column of dates; make it a factor before the ",
                 "call, as by factor(as.character(", listed[1L], "), levels = c(\"2020-01-01\", ",
                 "\"2020-01-02\"))")
  }
}

# Factors as their labels and dates as numbers, or for columns of files as dates of Python; names
# would turn a list into a dictionary.
plain <- function(values, files = FALSE) {
  refuse_integer64(values, "a list of public values")
  if (is.factor(values)) values <- as.character(values)
  if (inherits(values, "Date")) {
    if (files && !anyNA(values)) return(lapply(unname(as.list(values)), reticulate::r_to_py))
    values <- as.numeric(values)
  }
  unname(values)
}

# A vector as a list of its values; what is none is passed on, to be refused by check_plain().
listed <- function(values, files = FALSE) {
  if (is.null(values) || is.atomic(values)) as.list(plain(values, files)) else values
}

labels_of <- function(groups, files = FALSE) {
  groups <- plain(groups, files)
  check_plain(groups, "groups")
  if (anyNA(groups)) bad_argument("argument groups holds NA")
  if (!is.null(groups)) as.list(groups)
}

points_at <- function(x_new, formula) {
  if (is.null(x_new)) return(NULL)
  if (!is.list(x_new) && !is.atomic(x_new)) bad_points()
  if (anyNA(x_new, recursive = TRUE)) bad_argument("argument x_new holds NA")
  for (value in if (is.list(x_new)) x_new else list(x_new)) {
    refuse_integer64(value, "argument x_new")
  }
  x_new <- of_one_regressor(x_new, formula)
  if (is.list(x_new) && !is.data.frame(x_new)) x_new <- as_columns(x_new)
  if (!is.data.frame(x_new)) return(listed(x_new))
  check_distinct(names(x_new), "x_new")
  columns <- lapply(x_new, listed)
  for (name in names(columns)) check_plain(columns[[name]], paste0("x_new$", name))
  list(
    columns = reticulate::dict(columns),
    labels = as.list(row.names(x_new))
  )
}

# Numbers as the column of the one regressor that formulas have, so that points count from 1; where
# there is not one, the numbers.
of_one_regressor <- function(x_new, formula) {
  if (is.null(x_new) || !is.atomic(x_new)) return(x_new)
  formulas <- if (is.list(formula)) formula else list(formula)
  names <- unique(unlist(lapply(formulas, function(each) all.vars(each[[length(each)]]))))
  if (length(names) == 1L && names != ".") stats::setNames(list(unname(x_new)), names) else x_new
}

# A list of columns, which its names match to the variables, as a data frame.
as_columns <- function(columns) {
  sizes <- unique(lengths(columns))
  if (any(entry_names(columns) == "") || length(setdiff(sizes, 1L)) > 1L) {
    bad_points()
  }
  check_distinct(names(columns), "x_new")
  as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)
}

bad_points <- function() {
  bad_argument("expected x_new to be a data frame, numbers, or a list of columns by name")
}
