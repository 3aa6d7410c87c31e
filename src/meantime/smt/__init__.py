"""A phrase-based translation system, to tune for meaning (Beloucif, Lo and Wu 2014).

    text -> tokens                 words truecasing segmenters (Chinese), preparation (all of it)
         -> expressions, names     numbers names          what is rendered by rule or dictionary
         -> links between words    alignment              both directions, joined
         -> phrase table           phrases
         -> language model         language_model
         -> a folder               training model         files of one system, with their hashes
         -> n-best lists           decoding               with features, for `meantime tune`

The decoder and the word aligner are Thot's (Ortiz-Martínez and Casacuberta 2014), from the
package sil-thot, which the extra `meantime[smt]` brings.
"""
