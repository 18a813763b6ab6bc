const path = require('node:path');

// The whole order: what the file exports is what an assertion without a name calls.
module.exports = (output) => {
  const { items } = JSON.parse(output);
  return {
    pass: items.every((item) => /^[A-Z]-\d+$/.test(item.sku)),
    score: items.length > 0 ? 1 : 0,
    reason: `checked ${items.length} items in ${path.basename(__filename)}`,
  };
};

module.exports.everyQuantity = (output, context) =>
  JSON.parse(output).items.every((item) => item.quantity <= context.config.at_most);
