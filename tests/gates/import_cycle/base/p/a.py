from p import b
