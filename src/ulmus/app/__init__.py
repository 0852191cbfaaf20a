"""Pages in a browser: ``ulmus label``, where rows get classes by a few clicks.

Beneath are plain functions and frozen values: a journal of actions, the labels they make, a model
for every state of these, suggestions, and what is known of the model's errors. The server on top
knows HTTP and nothing else.
"""
