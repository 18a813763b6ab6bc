module.exports = (output) => /\b(Oslo|Bergen)\b/.test(output);
