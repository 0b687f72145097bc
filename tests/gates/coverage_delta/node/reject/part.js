"use strict";

/**
 * Half of a budget.
 * @param {number} budget
 * @returns {number}
 */
exports.half = (budget) => budget / 2;

/**
 * A budget in steps of ten.
 * @param {number} budget
 * @returns {number}
 */
exports.steps = (budget) => {
  let left = budget;
  let steps = 0;
  while (left > 0) {
    left -= 10;
    steps += 1;
  }
  return steps;
};
