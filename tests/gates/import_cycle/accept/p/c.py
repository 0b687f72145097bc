from p import a
