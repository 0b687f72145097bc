"use strict";

/**
 * Whether there is a budget at all.
 * @param {number} budget
 * @returns {boolean}
 */
exports.loose = (budget) => budget == 0;
