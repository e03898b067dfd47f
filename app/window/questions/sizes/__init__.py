"""Which vocabulary size?"""
