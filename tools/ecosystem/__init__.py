"""What other programs that run many experiments need to run policert: BenchExec, Lab, VNN-COMP."""
