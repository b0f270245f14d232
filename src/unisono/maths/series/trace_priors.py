"""What the default for traces takes for granted of annotators: every constant of its priors, with its evidence.

Chosen on seven studies of traces, ten draws each. docs/accuracy-series.md has what half and double of each value, or
its neighbours, change on every study, and what studies have that are left out of the choice; figures here are averages
over studies. Where a value is said to matter little, its neighbours move that average by less than .003, and by less
than twice the standard error.
Read through the module (`priors.NAME`), so that a benchmark can vary them: benchmarks/trace_constants.py.
Imports nothing.
"""

from __future__ import annotations

REVERSED = 0.01  # prior probability of tracing upside down; .03 turned a good annotator, .0001 left a reversed one;
# .003 and .03 move the average by .001
GAIN_SD, NOISE_SD = 0.3, 0.6  # of log gains and log noise variances before the data speak; .15 costs .002 (ceap360vr
# .006), 1.2 costs .004, the others matter little
GAIN_NOISE = 0.8  # their correlation: who exaggerates exaggerates errors too; .5 and .9 matter little
PRIOR_ANNOTATORS = 4.0  # how many annotators these three count for; matters little
OWN = 0.05  # prior probability of a unit, and of an origin, of one's own, whatever those of the others are; .01 moves
# gamevibe_engagement by +.015, movie_violence by -.005 and nothing else
OWN_UNIT_SD, OWN_ORIGIN_SD = 2.0, 10.0  # how far these may be: sd of the logarithm, and in units of the course; of a
# crowd with one scale, who has three times its unit, or is three of its courses off, is taken to have their own
MOST_WEIGHT = 3.0  # nobody counts for more than this many typical annotators: one of six became the truth without
EVIDENCE = 0.25  # of Bartlett's number of independent frames, since truth and errors both last; 1 cost .009, .5 costs
# .002; .125 gains .002 on average and loses .001 to .002 on the three studies whose figures are exact
UNCORRELATED = 0.05  # the autocorrelation of a trace counts up to its first value below this
LONGEST_CORRELATION = 60.0  # seconds after which it is not looked at
TRACE_FREEDOM, FREEDOM_SD = 4.0, 0.7  # degrees of freedom of the errors of traces, and sd of their logarithm before the
# data speak: against normal errors the average rises by .003, nowhere less than .000; by .005 with 4 held, and by .002
# with sd 1.5, but where errors are normal 4 loses .002 and sd .7 half of that
FLAT = 0.02  # share of the usual spread inside a recording below which a trace has no course
LEVEL_VARIANCE, PRIOR_RECORDINGS = 1.0, 2.0  # of recordings, in variances of the course, and how many these count for;
# half and double matter little
BIAS_VARIANCE, PRIOR_BIASES = 0.1, 4.0  # of annotators; without them levels and biases trade places for ever; .05 gains
# .003 (two standard errors) on the two weakest studies and nothing elsewhere
PRIOR_FRAMES = 4.0  # independent frames that a truth of half the variance of a course counts for; 0 let it die out
PRIOR_LEVELS = 4.0  # levels that a level's error equal to a frame's counts for; matters little
LEAST_LEVEL_ERROR, MOST_LEVEL_ERROR = 0.05, 20.0  # variance of a level's error over that of a frame
DELAY_SD = 0.5  # seconds around the median delay; .25 s costs green_intensity .005, 1 s tense_music .002
DIMENSION_DELAY_SD = 0.3  # seconds around the annotator's delay on all dimensions: the same in studies, found where not
PRIOR_BLOCKS = 2.0  # of 20 s, of one annotator, that what is expected of evidence on delays counts for
MEMORY, MEMORY_SD = 60.0, 1.0  # seconds after which the truth has forgotten itself, and sd of the logarithm before
# left-out annotators speak; around 30 s the average is .001 less; around 120 s tense_music loses .002
LEAKAGE_SD, PRIOR_LEAKAGES = 0.15, 4.0  # between dimensions, in standard deviations, and how many these count for; few
# independent frames say little of the spread, so that it stays near; .05 costs case_va .005, .1 .002; .2 is as good
TURNED = 0.3  # a loading below minus this over sqrt(annotators) starts as reversed

# ---- bands; figures and choices without each study: docs/accuracy-series.md
USUAL_WIDENING, WIDENING_SD = 1.15, 0.3  # of the variance of courses: left-out annotators of seven studies ask for .7
# to 1.3 with errors of .1 to .3, simulated crowds for 1.1 to 1.7; predicted ratings are drawn to the model as much
INDEPENDENT = 0.5  # of Bartlett's number of frames: what made both differ between draws as much as they did
# What all annotators do alike, which their traces cannot show: assumptions. The rules below do without the known
# signals, which test them.
COMMON_UNIT = 0.5  # variance of the unit they share over that between their units. By 0, 1/4, 1/2 and 1 bands hold .79,
# .82, .84 and .86 of a known signal, movie_violence, and .92, .93, .94 and .94 of left-out annotators of ceap360vr
COMMON_DELAY_SD = 1.5  # seconds that the delay convention may be off by: it says half a second to a second; of
# brightness .5 s are published, of emotion mostly 2 to 4 s. At 2 s bands of five of 26 made crowds that are 1.5 s late
# hold too much, at 1.5 s two; of a known signal, green_intensity (two recordings), four draws hold .81 instead of .84

# ---- diagnosis; conventions, none of which the estimate rests on
UNRELATED = 0.03  # prior probability of following nothing, and of drifting
DRIFT = 6.0  # variance of trends in the errors of who drifts, over the usual one
LATE = 5.0  # seconds after the others that a late trace begins to move, at least
SEEN_BEFORE = 0.02, 0.1  # imaginary recordings: so many flat or late ones of so many
