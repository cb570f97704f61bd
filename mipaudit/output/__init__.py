"""Where what a command says goes: the terminal, a file that is whole or not there."""
