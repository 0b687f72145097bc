"use strict";

/**
 * How a budget is shown.
 * @param {number} budget
 * @returns {string}
 */
exports.unnamed = (budget) => budget;
