"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { half } = require("./part.js");

test("a part of a budget", () => {
  assert.strictEqual(half(6), 3);
});
