"""The spectrum kernel of texts (Leslie et al., 2002): how many runs of k letters two of them share.

A text is a row whose column j holds the code of letter j: see `letters` in docs/data.md.
"""


def spectrum(indices, values, other_indices, other_values, k):
    """sum_u n_u n'_u, n_u how often the run u of k letters is in a text."""
    total, n, other = 0.0, values.size, other_values.size
    for shift in range(1 - n, other):  # letter i stands over letter i + shift
        run = 0
        for i in range(max(0, -shift), min(n, other - shift)):
            run = run + 1 if values[i] == other_values[i + shift] else 0
            if run >= k:
                total += 1.0
    return total
