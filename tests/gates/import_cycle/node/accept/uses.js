"use strict";

const { left } = require("./limit.js");

exports.uses = left;
