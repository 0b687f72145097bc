"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { wasted } = require("./waste.js");

test("budgets of which nothing is left", () => {
  assert.strictEqual(wasted([0, 3, 0]), 2);
});
