# Set the results of the three scripts beside fits that are not private: Rscript twins.R SURVEY LEDGER OUT
# The rows of this survey are made up, so that what follows from them may be shown. No such table may
# be printed from confidential rows. The ledger answers the scripts' calls from its store.
answered <- function(script) local({
  source(script, local = TRUE)
  fit
})
answers <- lapply(c(wages = "wages.R", unemployment = "unemployment.R", tables = "tables.R"), answered)
given <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(given[1])
rows$education <- factor(rows$education, c("primary", "secondary", "vocational", "tertiary"))

side_by_side <- function(fit, twin, twin_error) {
  cbind(estimate = fit$estimate, lower = fit$conf.low, upper = fit$conf.high,
        twin = as.vector(twin), twin_error = as.vector(twin_error))
}

known <- rows[complete.cases(rows[c("wage", "education", "weight")]), ]
wls <- lm(log(wage) ~ age + I(age^2) + sex + education, known, weights = weight)
errors <- sqrt(diag(sandwich::vcovCL(wls, known$state)))
wages <- side_by_side(tidy(answers$wages, conf.int = TRUE), coef(wls), errors)
rownames(wages) <- names(coef(wls))

logit <- glm(unemployed ~ age + sex + education, binomial, rows)
odds <- tidy(answers$unemployment, exponentiate = TRUE, conf.int = TRUE)
ratios <- side_by_side(odds, exp(coef(logit)), exp(coef(logit)) * sqrt(diag(vcov(logit))))
rownames(ratios) <- odds$term

# The gradient of b_j times the mean of p (1 - p), for the delta method.
p <- fitted(logit)
slope <- mean(p * (1 - p))
turn <- colMeans(p * (1 - p) * (1 - 2 * p) * model.matrix(logit))
gradient <- slope * diag(length(turn)) + outer(coef(logit), turn)
errors <- sqrt(diag(gradient %*% vcov(logit) %*% t(gradient)))[-1]
margins <- dp_margins(answers$unemployment)
effects <- side_by_side(margins, slope * coef(logit)[-1], errors)
rownames(effects) <- margins$term

figure <- function(asked) {
  x <- rows[rows$education %in% asked$education, asked$variable]
  if (asked$statistic %in% c("count", "share")) x <- x == (asked$level == "TRUE")
  known <- x[!is.na(x)]
  value <- switch(asked$statistic,
    n = length(known), missing = sum(is.na(x)), sd = sd(known), count = sum(known),
    mean = , share = mean(known), quantile(known, as.numeric(sub("%", "", asked$statistic)) / 100)
  )
  error <- if (asked$statistic %in% c("mean", "share")) sd(known) / sqrt(length(known)) else NA
  c(value, error)
}
described <- tidy(answers$tables)
twins <- vapply(seq_len(nrow(described)), function(i) figure(described[i, ]), numeric(2))
tables <- side_by_side(described, twins[1, ], twins[2, ])
rownames(tables) <- trimws(with(described, paste(variable, education, statistic)))

found <- list(wages = wages, `odds ratios` = ratios, `average marginal effects` = effects,
              tables = tables)
for (name in names(found)) {
  shown <- if (name == "tables") grepl("mean$|50%$", rownames(tables)) else TRUE
  cat(name, "\n", sep = "")
  print(noquote(formatC(found[[name]][shown, ], digits = 4, format = "g")), right = TRUE)
  cat("\n")
}
whole <- do.call(rbind, lapply(names(found), function(name) data.frame(table = name, found[[name]])))
write.csv(whole, given[3], row.names = FALSE)
held <- sum(whole$lower <= whole$twin & whole$twin <= whole$upper)
cat(held, "of", nrow(whole), "intervals hold the figure that is not private\n")
