# Writes tests/support/agreement_in_r.json anew: tables of ratings, and what psych::ICC and lme4::lmer (REML) say of them.
#   apt-get install r-cran-psych r-cran-lme4 r-cran-jsonlite; Rscript tests/support/agreement_in_r.R
suppressMessages({library(jsonlite); library(psych); library(lme4)})

drawn <- function(seed, items, raters, severity, missing) {
  set.seed(seed)
  y <- outer(rnorm(items), severity * rnorm(raters), "+") + 0.7 * matrix(rnorm(items * raters), items)
  y[matrix(runif(items * raters) < missing, items)] <- NA
  round(y, 4)
}

tables <- list(
  few_raters = drawn(1, 30, 3, 0.5, 0),
  many_raters = drawn(2, 25, 8, 0.3, 0),
  severe_raters = drawn(3, 40, 5, 1.5, 0),
  gaps = drawn(4, 60, 6, 0.5, 0.3)
)

said <- lapply(tables, function(y) {
  long <- data.frame(y = as.vector(y), item = factor(as.vector(row(y))), rater = factor(as.vector(col(y))))
  fit <- lmer(y ~ 1 + (1 | item) + (1 | rater), data = long)
  parts <- as.data.frame(VarCorr(fit))
  lme4 <- setNames(as.list(parts$vcov), parts$grp)
  complete <- !anyNA(y)
  icc <- if (complete) {
    found <- ICC(y, lmer = FALSE)$results
    Map(function(value, low, high) c(value, low, high), found$ICC, found$`lower bound`, found$`upper bound`)
  }
  if (complete) names(icc) <- ICC(y, lmer = FALSE)$results$type
  list(ratings = y, lme4 = lme4, psych = icc)
})

here <- sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE))
versions <- list(psych = as.character(packageVersion("psych")), lme4 = as.character(packageVersion("lme4")))
write_json(list(versions = versions, tables = said), sub("\\.R$", ".json", here), digits = 10, auto_unbox = TRUE)
