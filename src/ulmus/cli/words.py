"""Sentences about models that several commands print."""

__all__ = ["chosen_words", "classes_words", "score_words", "size_words"]

_MOST = 10


def chosen_words(chosen):
    """The estimator and what it settled on."""
    parts = [chosen["estimator"]]
    if "n_hidden" in chosen:
        parts.append(f"{chosen['n_hidden']} units")
    if "gamma" in chosen:
        parts.append(f"RBF kernel, gamma = {chosen['gamma']:.3g}")
    if chosen["steps"]:
        parts.append("steps up the numbers")
    parts += [f"{name} = {chosen[name]:.3g}" for name in ("C", "lam") if name in chosen]
    return ", ".join(parts)


def classes_words(model):
    """The classes, or that there are none."""
    if model.classes is None:
        return "a number"
    names = [str(name) for name in model.classes[:_MOST]]
    more = ", …" if len(model.classes) > _MOST else ""
    return f"{len(model.classes)} classes: {', '.join(names)}{more}"


def score_words(summary):
    """How well left-out rows were predicted."""
    score = summary["loo_score"]
    if score is None:
        return "not known"
    if summary["loo_measure"] == "accuracy":
        return f"{score:.1%} of left-out rows right"
    return f"R² = {score:.3f} on left-out rows"


def size_words(size):
    """Bytes as a person says them."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
