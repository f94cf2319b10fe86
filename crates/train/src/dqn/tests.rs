//! Deep Q-learning on small models.
