"use strict";

/**
 * The number of budgets of which nothing is left.
 * @param {number[]} budgets
 * @returns {number}
 */
exports.wasted = (budgets) => budgets.filter((budget) => budget === 0).length;
