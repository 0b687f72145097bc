"use strict";

/**
 * A budget that is written down.
 * @param {string} budget
 * @returns {number}
 */
exports.read = (budget) => JSON.parse(budget);
