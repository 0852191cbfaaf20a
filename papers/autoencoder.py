"""The deep autoencoder of the first paper's table V, in PyTorch."""

from itertools import pairwise

import numpy as np

from ulmus.exceptions import MissingExtraError

__all__ = ["autoencoder_codes"]


def autoencoder_codes(X, widths, epochs=200, learning_rate=1e-3, batch=64, seed=0):
    """The codes of a deep autoencoder and what it makes of them, trained with Adam on all rows.

    Tanh units in every layer but the code and the output, which are linear. The decoder mirrors
    the encoder.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows; columns are centred and share one scale.
    widths : sequence of int
        Units of the encoder's layers; the last is the code.
    epochs : int, default=200
        Passes over the rows.
    learning_rate : float, default=1e-3
        Adam's step at the start; it falls to zero along a cosine.
    batch : int, default=64
        Rows to a step.
    seed : int, default=0
        Seeds the weights and the order of the rows.

    Returns
    -------
    codes : ndarray of shape (n_samples, widths[-1])
        The rows, encoded.
    error : float
        Mean squared error of the reconstruction, as a share of the variance.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(
            "The deep autoencoder needs PyTorch; pip install 'ulmus[papers]'."
        ) from error
    # Sums in the same order wherever it runs.
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    centred = X - X.mean(axis=0)
    rows = torch.tensor(centred / (np.sqrt(np.mean(centred**2)) or 1.0), dtype=torch.float32)
    sizes = [X.shape[1], *widths]
    encoder, decoder = _layers(torch, sizes), _layers(torch, sizes[::-1])
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        for part in torch.randperm(len(rows)).split(batch):
            optimizer.zero_grad()
            torch.mean((decoder(encoder(rows[part])) - rows[part]) ** 2).backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        codes = encoder(rows)
        error = torch.mean((decoder(codes) - rows) ** 2)
    return codes.numpy().astype(float), float(error)


def _layers(torch, sizes):
    """Linear layers of these sizes with tanh between them."""
    parts = []
    for size, following in pairwise(sizes):
        parts += [torch.nn.Linear(size, following), torch.nn.Tanh()]
    return torch.nn.Sequential(*parts[:-1])
