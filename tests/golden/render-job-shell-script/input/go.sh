#!/bin/bash -e
echo go
