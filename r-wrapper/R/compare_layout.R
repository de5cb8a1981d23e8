# What a comparison shows of its columns: stars, labels, terms and notes.

usual_stars <- c("*" = 0.1, "**" = 0.05, "***" = 0.01)

checked_layout <- function(terms, stars, labels, keep, order, notes) {
  list(
    stars = checked_stars(stars), labels = checked_labels(labels, terms),
    keep = checked_terms("keep", keep, terms), order = checked_terms("order", order, terms),
    notes = checked_notes(notes)
  )
}

checked_stars <- function(stars) {
  if (isFALSE(stars)) return(NULL)
  if (isTRUE(stars)) return(usual_stars)
  levels <- is.numeric(stars) && length(stars) && !anyNA(stars) && all(stars > 0 & stars < 1)
  if (!levels || !all(nzchar(entry_names(stars)))) {
    bad_argument("expected stars to be TRUE, FALSE or levels between 0 and 1 by symbol, as in ",
                 "c(\"*\" = 0.05, \"**\" = 0.01)")
  }
  stars
}

checked_labels <- function(labels, terms) {
  texts <- is.null(labels) || is.character(labels) && !anyNA(labels) &&
    all(nzchar(labels) & nzchar(entry_names(labels)))
  if (!texts) bad_argument("expected labels to be texts by term, as in c(educ = \"Schooling\")")
  if (!is.null(labels)) checked_terms("labels", names(labels), terms)
  labels
}

checked_terms <- function(argument, listed, terms) {
  if (is.null(listed)) return(NULL)
  if (!is.character(listed) || !length(listed) || anyDuplicated(listed) || anyNA(listed)) {
    bad_argument("expected ", argument, " to name different terms of the table")
  }
  unknown <- setdiff(listed, terms)
  if (length(unknown)) {
    bad_argument("expected ", argument, " to name terms among ", toString(terms), ", got ",
                 shQuote(unknown[1L], "cmd"))
  }
  listed
}

checked_notes <- function(notes) {
  if (!is.null(notes) && (!is.character(notes) || anyNA(notes))) {
    bad_argument("expected notes to be texts")
  }
  notes
}

# The terms that are printed, in their order.
printed_terms <- function(terms, layout) {
  ordered <- unique(c(layout$order, terms))
  if (is.null(layout$keep)) ordered else ordered[ordered %in% layout$keep]
}

label_of <- function(term, layout) {
  if (term %in% names(layout$labels)) layout$labels[[term]] else term
}

# The symbol of the lowest level above a p-value, none where it is missing.
symbol_of <- function(p, layout) {
  above <- layout$stars[!is.na(p) & p < layout$stars]
  if (length(above)) names(above)[which.min(above)] else ""
}

legend_of <- function(stars) {
  stars <- sort(stars, decreasing = TRUE)
  toString(sprintf("%s p < %g", names(stars), stars))
}

# Says which terms have no stars because their intervals are hidden.
without_stars <- function(column, layout) {
  if (!length(layout$stars)) return(NULL)
  own <- column$quantities[match(column$names, column$quantities$term), ]
  hidden <- own$term[!is.na(own$estimate) & is.na(own$p.value)]
  hidden <- intersect(printed_terms(hidden, layout), hidden)
  if (!length(hidden)) return(NULL)
  listed <- toString(vapply(hidden, label_of, "", layout))
  paste0("no stars at ", listed, ", where no bounded interval was released")
}
