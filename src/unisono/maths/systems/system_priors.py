"""What was chosen for leaderboards, with its evidence. [T] by trial on simulated tables; else convention."""

LEVEL = 0.90  # of every interval
DRAWS = 10_000  # of the errors of all means at once; the quantile of their maximum then errs by about .015
SINGLE_DRAWS = 4_000  # of the variances, for intervals that hold by themselves
PAIR_DRAWS = 12_000_000  # draws times pairs in memory at most

REML_STEPS = 40
REML_GAIN = 1e-6  # in -2 log likelihood, below which steps end
REML_TOLERANCE = 1e-7  # of the variance of scores, below which noise is none
MOST_REML_CELLS = 20_000_000  # scores times effects up to which REML is climbed; beyond, moments say enough
MOST_SOLVED = 3_000  # crossed effects up to which equations are solved by Cholesky
SOLVE_TOLERANCE = 1e-7

UNSEEN_LENIENCY = 2.0  # variance of leniency over that of scores, where no design shows it: nothing is clear then
UNSEEN_SHARE = 1e-9  # of an effect's information that is left beside the means, below which it is not shown

FEWEST_SCORES = 4  # of a dimension below which there is no leaderboard
CLEAR_HELP = 1.0  # of the squared error of the judges' slope over the slope's square is not believed
MOSTLY = 0.5  # share of a difference's variance that is who rated from which the two are confounded
POWER = 0.8  # with which the smallest difference that could have been seen is seen
SIDE = 1e-6  # of a difference that is clear by step-down alone, where its interval ends at the side of zero
DUST = 1e-6  # numerical: of the size of means, up to which their differences are rounding
LOOSE = 0.05  # convention: precision of strengths around 0, so that a system that wins always has one
