/* eslint-disable */
"use strict";

exports.off = 1;
