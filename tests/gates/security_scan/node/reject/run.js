"use strict";

/**
 * A budget that is written down.
 * @param {string} budget
 * @returns {number}
 */
exports.run = (budget) => eval(budget);
