"""The model of traces: ratings over time, with a delay for every annotator. In the order in which data flow:

trace_data, trace_parts           recordings and parameters; traces in parts, outliers, levels and courses
trace_frames                      what annotators say of every frame; frames condensed to those that count
tracer_rows, tracer_climb         gain, noise, sign and bias of each annotator; the search and the climb for all of them
delays_and_memory                 one delay per annotator; how slowly the truth changes
trace_leakage                     what annotators put into a dimension of what is true on another
tracer_params                     from known annotators to the parameters of the truth, and what these may be off by
trace_truth                       the fused truth and its band; its smoother: trace_layout, trace_estep
left_out_traces                   what annotators who were left out say of the width of bands and of predicted ratings
tracer_diagnosis, tracer_fit      what is unusual about annotators; the whole fit
trace_priors                      every constant of the default, with its evidence

shared_dynamics                   methods of others: dynamic probabilistic CCA, on trace_warping
trace_averages                    and averages: windows, ranks, curves on splines, delays by information

By EM, for features, gold and every other structure: trace_em_fit on trace_moments, trace_em, delay_search
and error_bands; trace_features, trace_gold.
"""
