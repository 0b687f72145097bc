"use strict";

/**
 * Whether there is a budget at all.
 * @param {number} budget
 * @returns {boolean}
 */
exports.none = (budget) => budget === 0;
