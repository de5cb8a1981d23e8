# Linear hypotheses about coefficients, as texts or as a matrix of weights.

# A list of `weights`, a row for each hypothesis, `values`, which the combinations are to have, and
# each hypothesis as `text` with the coefficients on its left.
linear_hypotheses <- function(object, hypotheses) {
  check_given(parent.frame(), c("object", "hypotheses"))
  if (!inherits(object, "dp_ols")) {
    bad_argument("expected object to be a fit by dp_ols()",
                 if (inherits(object, "dp_ols_groups")) {
                   "; of groups dp_test() takes one, as in dp_test(groups[[1]], \"x = 0\")"
                 })
  }
  names <- names(object$coefficients)
  texts <- is.character(hypotheses) && length(hypotheses)
  if (!texts && !(is.matrix(hypotheses) && is.numeric(hypotheses)) || anyNA(hypotheses)) {
    bad_argument("expected hypotheses to be texts such as \"x1 = x2\", or a matrix of weights")
  }
  sides <- if (texts) read_hypotheses(hypotheses, names) else cbind(hypotheses, 0)
  if (ncol(sides) != length(names) + 1L) {
    bad_argument("expected hypotheses to have a column of weights for each of the ", length(names),
                 " coefficients, got ", ncol(hypotheses))
  }
  weights <- unname(sides[, seq_along(names), drop = FALSE])
  if (any(rowSums(weights != 0) == 0)) {
    bad_argument("expected each hypothesis to be about a coefficient, got ",
                 written_hypotheses(hypotheses), "; leave out what cancels")
  }
  values <- unname(sides[, ncol(sides)])
  left <- apply(weights, 1L, combination, names)
  list(weights = weights, values = values, text = paste(left, "=", format_short(values)))
}

# Refuse hypotheses to be tested together of which one follows from others, or they contradict.
refuse_dependent <- function(H) {
  if (qr(t(H$weights))$rank < nrow(H$weights)) {
    bad_argument("expected hypotheses that do not follow from each other, got ", toString(H$text),
                 "; leave out those that do, or test each by itself with dp_test()")
  }
}

written_hypotheses <- function(hypotheses) {
  toString(if (is.character(hypotheses)) hypotheses else apply(hypotheses, 1L, toString))
}

format_short <- function(x) formatC(x, digits = 6L, format = "g", width = 1L)

# A combination such as "x1 - 2 x2".
combination <- function(weights, names, write = format_short) {
  used <- weights != 0
  sizes <- ifelse(abs(weights) == 1, "", paste0(write(abs(weights)), " "))
  parts <- paste0(ifelse(weights < 0, "- ", "+ "), sizes, names)[used]
  sub("^- ", "-", sub("^[+] ", "", paste(parts, collapse = " ")))
}

# The texts that Python reads back to the same weights.
exact_texts <- function(H, names) {
  vapply(seq_along(H$values), function(i) {
    paste(combination(H$weights[i, ], names, function(x) sprintf("%.17g *", x)),
          "=", sprintf("%.17g", H$values[i]))
  }, "")
}

# A row of weights and the value for each equation; several may stand in one text, with commas.
read_hypotheses <- function(texts, names) {
  marked <- mark_names(texts, names)
  equations <- trimws(unlist(strsplit(marked, ",", fixed = TRUE)))
  if (!length(equations)) unreadable(texts, names)
  do.call(rbind, lapply(equations, function(equation) {
    sides <- strsplit(equation, "=", fixed = TRUE)[[1L]]
    parsed <- if (length(sides) <= 2L && nzchar(equation)) lapply(sides, parsed_side, names)
    if (is.null(parsed) || any(vapply(parsed, is.null, TRUE))) unreadable(texts, names)
    difference <- if (length(parsed) == 2L) parsed[[1L]] - parsed[[2L]] else parsed[[1L]]
    last <- length(difference)
    c(difference[-last], 0 - difference[last])
  }))
}

unreadable <- function(texts, names) {
  bad_argument("cannot read the hypotheses ", toString(shQuote(texts, "cmd")), "; write equations ",
               "such as \"", names[length(names)], " = 0\" about ", toString(names))
}

# The texts with the names of coefficients, the longest first, replaced by .b1, .b2 and so on.
mark_names <- function(texts, names) {
  for (i in order(nchar(names), decreasing = TRUE)) {
    name <- gsub("([][{}()+*^$|\\\\?.])", "\\\\\\1", names[i])
    texts <- gsub(paste0("(?<![\\w.])", name, "(?![\\w.])"), paste0("\u0001", i, "\u0002"), texts,
                  perl = TRUE)
  }
  gsub("\u0002", "", gsub("\u0001", ".b", texts, fixed = TRUE), fixed = TRUE)
}

# One side of an equation: the weights of the coefficients and a constant, or NULL.
parsed_side <- function(text, names) {
  parsed <- tryCatch(parse(text = text, keep.source = FALSE), error = function(e) NULL)
  if (length(parsed) == 1L) affine(parsed[[1L]], length(names))
}

# The weights and the constant of an expression, or NULL where it is not linear in the coefficients.
affine <- function(expression, size) {
  constant <- function(value) c(numeric(size), value)
  if (is.numeric(expression)) return(constant(expression))
  if (is.name(expression)) return(marked_name(as.character(expression), size))
  parts <- lapply(as.list(expression)[-1L], affine, size)
  if (any(vapply(parts, is.null, TRUE))) return(NULL)
  number <- vapply(parts, function(part) !any(part[seq_len(size)] != 0), TRUE)
  last <- size + 1L
  operator <- paste0(as.character(expression[[1L]]), length(parts))
  switch(operator,
    "(1" = , "+1" = parts[[1L]], "-1" = -parts[[1L]],
    "+2" = parts[[1L]] + parts[[2L]], "-2" = parts[[1L]] - parts[[2L]],
    "*2" = if (number[1L]) parts[[1L]][last] * parts[[2L]]
           else if (number[2L]) parts[[1L]] * parts[[2L]][last],
    "/2" = if (number[2L]) parts[[1L]] / parts[[2L]][last]
  )
}

# The weights of a coefficient that stands for its name.
marked_name <- function(name, size) {
  i <- suppressWarnings(as.integer(sub("^[.]b", "", name)))
  if (!startsWith(name, ".b") || is.na(i)) return(NULL)
  replace(numeric(size + 1L), i, 1)
}
