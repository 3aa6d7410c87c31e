"""How the shipped models are made. torch lives here and nowhere else."""
