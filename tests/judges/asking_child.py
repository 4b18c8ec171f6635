"""Asks a server forty questions and prints the replies: what a kill ends and a second call resumes.

Arguments: the endpoint, the file of replies, requests at a time, a cap of tokens or `-`.
"""

import json
import sys
from pathlib import Path

from memruler.judges.asking import Asker
from memruler.judges.budget import Budget
from memruler.judges.chat import Chat
from memruler.judges.many import run_many
from memruler.judges.replies import Replies
from memruler.judges.rubric import Message

url, path, parallel, cap = sys.argv[1:]
chat = Chat(url, "m", seed=1, max_tokens=8)
budget = Budget(max_total_tokens=None if cap == "-" else int(cap))
with Asker(chat, replies=Replies(Path(path)), budget=budget) as asker:
    questions = [f"question {n}" for n in range(40)]

    def work(question):
        return asker.ask([Message("user", question)]).text

    texts = [""] * len(questions)
    for at, text in run_many(work, questions, at_a_time=int(parallel)):
        texts[at] = text
json.dump({"texts": texts, "paid": asker.usage().requests}, sys.stdout)
