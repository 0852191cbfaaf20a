"""The deep autoencoder of the first paper's table V, in PyTorch."""

from itertools import pairwise

import numpy as np

from ulmus.exceptions import MissingExtraError


def autoencoder_codes(X, widths, epochs=200, learning_rate=1e-3, batch=64, seed=0):
    """The codes of a deep autoencoder, and its mean squared error as a share of the variance.

    Columns of X are centred and share one scale. ``widths`` are the units of the encoder's layers,
    of which the last is the code; the decoder mirrors them. Tanh units in every layer but the code
    and the output, which are linear. Adam's step falls to zero along a cosine.
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
