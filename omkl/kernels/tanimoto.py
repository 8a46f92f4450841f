"""The Tanimoto kernel (Ralaivola et al., 2005): of rows of 0 and 1 that of Jaccard, from the dot product."""


def tanimoto(product, norm2, other_norm2):
    """x.x' / (||x||^2 + ||x'||^2 - x.x'), 1 of two rows that are 0."""
    union = norm2 + other_norm2 - product
    return product / union if union > 0.0 else 1.0
