"""Features of what was rated, as tables that `fuse --features` reads.

media_features   sentence embeddings of texts, colours of images, openSMILE's emotion set for sounds, colours and
                 optical flow of films
"""
