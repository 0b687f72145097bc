from p import b, c
