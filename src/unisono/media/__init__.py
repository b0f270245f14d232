"""Features of what was rated: texts, images, sounds, films, as tables that `fuse --features` reads.

texts        sentence embeddings
images       mean colours, luminance, histograms of hue, saturation and value
sounds       openSMILE's emotion set under eight functionals, on a clock
films        colours, histograms and optical flow, on a clock
windows      sliding windows over measured frames
tables       from measured numbers to a table with names
"""
