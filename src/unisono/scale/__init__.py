"""Work that is spread: executors, and the default for items on shards of ratings. The numbers are the same everywhere.

executors, process_executor, cluster_executors   who works, and independent tasks; imported by fusers

shard_parts                  shards as workers hold them, and counts over them
shard_duplicates             duplicate annotators among those of shards
shard_preparation            before a fit: its fuser, the scale of the answers, what deserves a look, duplicates merged
shard_sums, shard_em         sums over shards that the parts of the default need; EM on shards, with checkpoints
sharded_default              the steps of the default in order
sharded_fusion, shard_truth  from a folder of shards to a fusion; its truths, part by part
"""
