"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { half } = require("./half.js");

test("half of a budget", () => {
  assert.strictEqual(half(6), 3);
});
