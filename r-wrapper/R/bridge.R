# Columns on their way to Python, as bytes: reticulate's conversion of data frames loses NA.

# A named list of columns, each a list of its kind, its bytes and its levels.
bridge_columns <- function(data) {
  Map(bridge_column, as.list(data), names(data))
}

bridge_column <- function(x, name) {
  kind <- column_kind(x, name)
  levels <- NULL
  if (kind == "character") {
    levels <- unique(x[!is.na(x)])
    codes <- match(x, levels)
  } else if (kind %in% c("factor", "ordered")) {
    if (!is.null(attr(x, "contrasts"))) {
      bad_argument(
        "column '", name, "' carries contrasts of its own; remove them with ",
        "contrasts(data$", name, ") <- NULL and write C(", name, ", contr.sum) in the formula"
      )
    }
    levels <- levels(x)
    if (anyNA(levels)) {
      bad_argument("column '", name, "' has NA among its levels; give that level a name")
    }
    codes <- x
  } else {
    codes <- x
  }
  bytes <- if (kind == "double") as.double(x) else as.integer(codes)
  column <- list(kind = kind, data = writeBin(bytes, raw(), endian = "little"))
  if (!is.null(levels)) column$levels <- as.list(enc2utf8(levels))
  column
}

# What a column is, by its class; everything that is not on the list is refused by name.
column_kind <- function(x, name) {
  class <- class(x)
  if (identical(class, c("ordered", "factor"))) return("ordered")
  if (identical(class, "Date")) return("double")
  if (length(class) == 1L && is.null(dim(x))) {
    kind <- switch(class, numeric = "double", integer = , logical = , character = , factor = class)
    if (!is.null(kind)) return(kind)
  }
  bad_argument(
    "column '", name, "' is of class ", class[1L], "; convert it before the call with ",
    "as.numeric(), as.logical() or factor()",
    if (inherits(x, c("POSIXt", "Date"))) ", or with as.Date() for days",
    if (inherits(x, "haven_labelled")) ", or with haven::as_factor()",
    if (inherits(x, "haven_labelled_spss")) {
      ", after haven::zap_missing(), as its codes for missing stay"
    },
    if (inherits(x, "integer64")) ", with the package bit64 loaded"
  )
}

# R takes the bits of these for those of other numbers where the package bit64 is not loaded.
refuse_integer64 <- function(values, what) {
  if (inherits(values, "integer64")) {
    bad_argument(what, " is of class integer64; convert it with as.numeric(), with the package bit64 loaded")
  }
}
