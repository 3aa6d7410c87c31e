"""The analyser: data, model, training, export.

python -m training.analyser --train FILE… --dev FILE --out DIR
"""
