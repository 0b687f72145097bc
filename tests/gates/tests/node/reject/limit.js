"use strict";

/**
 * What is left of a budget.
 * @param {number} budget
 * @param {number} spent
 * @returns {number}
 */
exports.left = (budget, spent) => budget + spent;
