"""Long work, one at a time: the queue before the model, the first start, changes of the library."""
