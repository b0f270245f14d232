"""Features of what was rated (texts, images, sounds, films), as tables that `fuse --features` reads.

text_features    sentence embeddings
media_features   colours of images, openSMILE's emotion set for sounds, colours and optical flow of films
"""
