"""Questions that one could begin with."""

from assistant.service import Service
from retrieval.errors import UserError

_ABOUT_THE_SEEDS = (
    (
        "Neural Collapse Under MSE Loss: Proximity to and Dynamics on the Central Path",
        "What is neural collapse and when does it appear?",
    ),
    (
        "Learning Strides in Convolutional Neural Networks",
        "How can a convolutional network learn its strides?",
    ),
    (
        "Machine Unlearning of Federated Clusters",
        "How much faster is machine unlearning of federated clusters than retraining?",
    ),
    (
        "Graph Contrastive Learning for Skeleton-based Action Recognition",
        "Which papers recognise human actions from skeleton sequences?",
    ),
)
"""Titles with questions that these papers answer."""


def examples(service: Service) -> list[str]:
    """Those of our questions that this library answers."""
    try:
        return [asked for title, asked in _ABOUT_THE_SEEDS if _is_here(service, title)]
    except UserError:
        return []


def _is_here(service: Service, title: str) -> bool:
    return any(match.paper.title == title for match in service.lookup(title, 1).matches)
