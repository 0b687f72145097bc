"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { left } = require("./limit.js");

test("what is left of a budget", () => {
  assert.strictEqual(left(5, 2), 3);
});
