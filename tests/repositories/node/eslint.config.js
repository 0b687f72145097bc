"use strict";

module.exports = [
  {
    languageOptions: { sourceType: "commonjs" },
    rules: { eqeqeq: "error", "no-var": "error" },
  },
];
