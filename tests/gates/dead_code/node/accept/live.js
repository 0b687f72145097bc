"use strict";

/**
 * Twice a budget.
 * @param {number} budget
 * @returns {number}
 */
exports.live = (budget) => {
  const twice = 2 * budget;
  return twice;
};
