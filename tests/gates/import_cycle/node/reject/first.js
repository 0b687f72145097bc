"use strict";

const { second } = require("./second.js");

/** @returns {number} */
exports.first = () => second() + 1;
