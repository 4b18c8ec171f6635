"""English function words that say nothing about what a question is about.

The list is memruler's own: articles, pronouns, prepositions, conjunctions, auxiliaries, question
words, and the pieces that an apostrophe leaves behind (`don't` is `don` and `t`). Negations are
in it too: to a bag of words they are no topic. `may` and `won` are not: a month, and a victory.
"""

__all__ = ["STOP_WORDS"]

_LISTED = """
a an the this that these those
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
it its itself we us our ours ourselves they them their theirs themselves
one ones someone something anyone anything everyone everything
about above after again against along among around as at before behind below between by down
during for from in into of off on onto out over since than through to toward towards under
until up upon with within without
and but or nor so yet if because while although though whether
am is are was were be been being do does did doing done have has had having
can could might must shall should will would
who whom whose which what when where why how
not no any all both each few more most other some such only own same too very just also there
here then once
s t d m ll re ve don isn aren wasn weren doesn didn hasn haven hadn wouldn couldn shouldn
"""

STOP_WORDS = frozenset(_LISTED.split())
