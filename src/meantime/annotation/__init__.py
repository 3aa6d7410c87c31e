"""Human evaluation: people mark frames in translations, judge, order and rate them.

`campaign` says what is asked of whom, `marks` and `judging` what people's answers are,
`assignment` who may get which task, `agreement` and `results` what comes out; all of that is
pure. `store` alone speaks SQL, `app` alone speaks HTTP.
"""
