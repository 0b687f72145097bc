"use strict";

const { first } = require("./first.js");

/** @returns {number} */
exports.second = () => first() - 1;
