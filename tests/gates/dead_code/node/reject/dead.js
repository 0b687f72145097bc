"use strict";

/**
 * Twice a budget.
 * @param {number} budget
 * @returns {number}
 */
exports.dead = (budget) => {
  const twice = 2 * budget;
  return 2 * budget;
};
