"""Mutation of the reference model: what of it could be wrong without a test failing?"""
