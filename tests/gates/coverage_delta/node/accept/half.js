"use strict";

/**
 * Half of a budget.
 * @param {number} budget
 * @returns {number}
 */
exports.half = (budget) => budget / 2;
