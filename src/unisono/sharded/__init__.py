"""The default for items on shards of ratings: what is computed of each shard, and what the driver makes of the sums.

`parts` are shards as workers hold them; `look` and `tally` count, `copies` finds copies, `alerts` says what deserves a
look, `crowd` has what is known of the ratings on the driver; `prepare` comes before a fit; `diagnosis`, `fit` and
`calibration` are the parts of the default, `steps` has them in order, `truth` its estimates part by part; `checkpoint`
keeps a fit that is interrupted, `fusion` puts all of it together.
"""
