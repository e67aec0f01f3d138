"""
2,000 words into clusters that a person recognises
==================================================

Which words tell the same about the text around them? Words of one cluster point to the same topics. The bottleneck finds
such clusters in a table of counts, words by topics. It needs no list of stop words: words that are everywhere form one
cluster, since they tell nothing.

*For people with texts. You will know at the end*: how to turn counts into clusters with names, and how much of what
the words tell is kept.

The text is Python's own help, ``pydoc_data.topics``, which comes with every Python: some 80 chapters on assignments,
strings, exceptions and so on. Your Python's edition may differ from the one that made this page by a few words.

*Added in 0.1.0.*
"""

from __future__ import annotations

import re
from collections import Counter
from pydoc_data.topics import topics

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

import infoplane as ip

# %%
# The counts
# ----------

chapters = {name: re.findall(r"[a-z]{3,}", text.lower()) for name, text in topics.items()}
chapters = {name: words for name, words in sorted(chapters.items()) if len(words) >= 400}
common = [word for word, _ in Counter(word for words in chapters.values() for word in words).most_common(2000)]
at = {word: i for i, word in enumerate(common)}
pairs = Counter((at[word], y) for y, words in enumerate(chapters.values()) for word in words if word in at)
table = sparse.coo_array((list(pairs.values()), np.array(list(pairs)).T), shape=(len(common), len(chapters)))
joint = ip.Joint.from_counts(table.tocsr(), x_labels=common, y_labels=list(chapters), x_names="word", y_names="chapter")
print(joint)

# %%
# The clusters
# ------------
# The best hard map to 14 clusters that is found; ``certify=True`` would bound what any such map keeps, and take
# longer.

found = ip.partition(joint, clusters=14, rng=0)
kept = found.iyz / joint.mutual_information
print(f"14 clusters keep {kept:.0%} of what 2,000 words tell of their chapter")

# %%
# A cluster is named by the words that tell most of its chapters (``clusters_frame``), and placed by the chapters that
# it points to.

held = found.clusters_frame(letters=9)
p_y = held.filter(like="|z)").to_numpy()
lift = p_y / joint.p_y
for z in range(len(held)):
    first = [joint.y_labels[y] for y in np.argsort(-p_y[z] * np.log(lift[z] + 1e-12))[:3]]
    print(
        f"{held.letters.iloc[z]:5d} words -> {', '.join(map(str, first)):55s} {' '.join(map(str, held.typical.iloc[z][:6]))}"
    )

# %%
# The picture: every line is a cluster. Letters are the larger, the more a word adds to what its cluster says; bars
# are the bits that the cluster tells of the chapter, in all.

told = (held.p_z.to_numpy()[:, None] * p_y * np.log2(lift, where=lift > 0, out=np.zeros_like(lift))).sum(axis=1)
order = np.argsort(-told)
figure = Figure(figsize=(11, 6.6), layout="constrained")
ax = figure.subplots()
colours = ["#0072B2", "#009E73", "#D55E00", "#CC79A7", "#8a6d00"]
for row, z in enumerate(order):
    colour = colours[row % len(colours)]
    ax.barh(-row, -told[z], color=colour, alpha=0.35)
    x = 0.01
    for rank, word in enumerate(held.typical.iloc[z]):
        text = ax.text(x, -row, str(word), fontsize=14 - 0.75 * rank, va="center", color=colour)
        x += 0.0148 * (len(str(word)) + 1.6) * (14 - 0.75 * rank) / 14
    chapter = joint.y_labels[int(np.argmax(p_y[z] * np.log(lift[z] + 1e-12)))]
    ax.text(-told[z] - 0.01, -row, f"{chapter}", ha="right", va="center", fontsize=9, color="#333333")
ax.set(xlim=(-max(told) - 0.2, 1.12), yticks=[], title="What Python's help talks about: 2,000 words in 14 clusters")
ax.set_xticks([0, -max(told).round(1)], ["0", f"{max(told):.1f} bits"])
ax.spines[["top", "right", "left"]].set_visible(False)
figure.savefig("words.png", dpi=130)
