# Predictions of groups, some of the groups, and one of them.

#' @rdname groups
#' @export
predict.dp_ols_groups <- function(object, newdata, se.fit = FALSE,
                                  interval = c("none", "confidence"), level = 0.95,
                                  type = "response", ...) {
  refuse_others("predict", ...)
  if (missing(newdata)) newdata <- NULL
  check_type(type)
  interval <- prediction_options(newdata, se.fit, interval, level)
  X <- clipped_rows(object, design_at(object, newdata))
  at <- groups_of_rows(object, newdata)
  as_predicted(group_means(object, X, at), se.fit, interval, uncertainty_at(object, X, level, at),
               object$limits$declared)
}

# The number of the group that each row of new data belongs to.
groups_of_rows <- function(object, newdata) {
  absent <- setdiff(names(object$groups), names(newdata))
  if (length(absent)) {
    bad_argument("newdata has no column '", absent[1L], "' that says whose fit predicts a row; ",
                 "merge(groups$groups, newdata) gives every group each of them")
  }
  labels <- lapply(as.list(newdata)[names(object$groups)], label_text)
  at <- match(group_keys(labels), group_keys(lapply(object$groups, label_text)))
  at[!stats::complete.cases(as.data.frame(labels))] <- NA # which a group may be called
  lacking <- which(is.na(at))
  if (length(lacking)) no_group(paste(vapply(labels, `[`, "", lacking[1L]), collapse = ":"), names(object))
  at
}

# What no two combinations of labels share, as texts do in which labels hold the separator.
group_keys <- function(labels) {
  do.call(paste, unlist(lapply(unname(labels), function(each) list(nchar(each, "bytes"), each)), recursive = FALSE))
}

group_means <- function(object, X, at) {
  fit <- rowSums(X * object$estimates[at, object$coefficients, drop = FALSE])
  if (!is.null(object$absorbed)) fit[] <- NA_real_
  stats::setNames(within_ends(fit, object$limits$response, at), row.names(X))
}

# Predictions within the ends that those of each group keep to, if there are any.
within_ends <- function(fit, ends, at) {
  if (is.null(ends)) fit else pmin(pmax(fit, ends[at, 1L]), ends[at, 2L])
}

#' @rdname groups
#' @exportS3Method generics::augment dp_ols_groups
augment.dp_ols_groups <- function(x, newdata, se_fit = TRUE, interval = c("none", "confidence"),
                                  conf.level = 0.95, ...) {
  refuse_others("augment", ...)
  if (missing(newdata) || is.null(newdata)) {
    not_released("fitted values", "augment(groups, newdata = )")
  }
  check_flags(se_fit = se_fit)
  augmented(x, newdata, se_fit, chosen_interval(interval), conf.level)
}

#' @rdname groups
#' @export
`[.dp_ols_groups` <- function(x, i, ...) {
  if (nargs() > 2L) one_index()
  if (missing(i)) return(x)
  at <- group_places(x, i)
  parts <- unclass(x)
  rows <- c("groups", "estimates", "errors", "low", "high")
  parts[rows] <- lapply(parts[rows], function(part) part[at, , drop = FALSE])
  row.names(parts$groups) <- NULL
  parts[c("status", "nobs")] <- lapply(parts[c("status", "nobs")], `[`, at)
  parts$place <- parts$place[at]
  parts$fit_statistics <- statistics_at(parts$fit_statistics, at)
  if (!is.null(parts$instruments)) parts$instruments <- instruments_at(parts$instruments, at)
  if (!is.null(parts$limits$response)) {
    parts$limits$response <- parts$limits$response[at, , drop = FALSE]
  }
  parts$uncertainty <- uncertainty_of(parts$uncertainty, at)
  structure(parts, class = class(x))
}

#' @rdname groups
#' @export
subset.dp_ols_groups <- function(x, ...) {
  bad_argument("subset() takes a table, as in subset(tidy(groups), ", names(x$groups)[1L], " == \"...\"); some of the ",
               "groups are groups[groups$groups$", names(x$groups)[1L], " == \"...\"]")
}

#' @rdname groups
#' @export
`[[.dp_ols_groups` <- function(x, i, ...) {
  if (nargs() > 2L) one_index()
  chosen <- x[i]
  if (length(i) != 1L || nrow(chosen$groups) != 1L) {
    bad_argument("expected the name or the number of one group in [[ ]], got ", shown(i))
  }
  one_fit(chosen)
}

# What map() of the package purrr goes over: the places of groups, of which vec_restore() makes groups.

#' @rdname groups
#' @param to As the package vctrs passes it.
#' @exportS3Method vctrs::vec_proxy
vec_proxy.dp_ols_groups <- function(x, ...) stats::setNames(seq_along(x), names(x))

#' @rdname groups
#' @exportS3Method vctrs::vec_restore
vec_restore.dp_ols_groups <- function(x, to, ...) to[unname(x)]

#' @rdname groups
#' @export
length.dp_ols_groups <- function(x) length(x$status)

one_index <- function() {
  bad_argument("groups have one index, a number or a label, which joins those of several columns, as in ",
               "groups[[\"A:7\"]]; tidy(groups) is a table with rows and columns")
}

# The numbers of the groups that are named.
group_places <- function(x, i) {
  names <- names(x)
  if (is.factor(i)) i <- as.character(i) # a label, not the number of its level
  at <- if (is.character(i)) match(i, names) else seq_along(names)[i]
  if (anyNA(at)) no_group(i[is.na(at)][1L], names)
  if (is.character(i) && anyDuplicated(names)) {
    others <- !duplicated(group_keys(lapply(x$groups, label_text)))
    shared <- intersect(i, names[duplicated(names) & others])
    if (length(shared)) bad_argument("several groups have the name ", shared[1L], "; take one by its number")
  }
  at
}

no_group <- function(name, names) {
  bad_argument("there is no group ", name, "; the groups are ", toString(utils::head(names, 6L)),
               if (length(names) > 6L) " and others")
}

#' @rdname groups
#' @export
coef.summary.dp_ols_groups <- function(object, ...) {
  bad_argument("coef() takes the groups, as in coef(groups); coef(summary(groups[[1]])) has the tests of one")
}
