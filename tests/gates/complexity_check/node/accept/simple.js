"use strict";

/**
 * The budget, step by step.
 * @param {number} budget
 * @returns {number}
 */
exports.simple = (budget) => {
  if (budget === 0) return 0;
  if (budget === 1) return 1;
  if (budget === 2) return 2;
  if (budget === 3) return 3;
  return -1;
};
