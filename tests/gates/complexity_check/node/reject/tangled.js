"use strict";

/**
 * The budget, step by step.
 * @param {number} budget
 * @returns {number}
 */
exports.tangled = (budget) => {
  if (budget === 0) return 0;
  if (budget === 1) return 1;
  if (budget === 2) return 2;
  if (budget === 3) return 3;
  if (budget === 4) return 4;
  if (budget === 5) return 5;
  if (budget === 6) return 6;
  if (budget === 7) return 7;
  if (budget === 8) return 8;
  if (budget === 9) return 9;
  if (budget === 10) return 10;
  return -1;
};
