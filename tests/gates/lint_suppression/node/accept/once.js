"use strict";

/**
 * The budget.
 * @param {number} budget
 * @returns {number}
 */
exports.once = (budget) => {
  // eslint-disable-next-line no-var -- as it was
  var once = budget;
  return once;
};
